"""Text files that a command is given."""

from __future__ import annotations

import sys
from pathlib import Path

from cli.exits import Exit, Stop

STDIN = Path("-")


def text_of(path: Path) -> str:
    """The text of a UTF-8 file, without a byte order mark; `-` is stdin.

    Raises:
        Stop: it cannot be read, or is not UTF-8.
    """
    try:
        data = sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise Stop(f"{path} cannot be read: {error.strerror}.", exit_code=Exit.USAGE) from None
    except UnicodeDecodeError:
        raise Stop(f"{path} is not UTF-8 text.", exit_code=Exit.USAGE) from None
