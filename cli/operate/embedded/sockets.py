"""Short folders for unix sockets, and the removal of those that killed owners left behind.

A socket's path may have 107 bytes (sun_path in unix(7)), so it cannot lie in the state folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cli.operate.embedded.account import Account, hand_over

_PREFIX = "hango-sock-"
_LONGEST_BASE = 60  # leaves room for the folder's and the socket's own names
_HELD = "held"  # a file that the owner keeps locked for as long as it lives
_YOUNG = 60.0  # seconds; a younger folder may not have its lock yet


@contextmanager
def socket_folder(account: Account | None) -> Iterator[Path]:
    """A new folder that only the owner and `account` can enter; removed at the end."""
    base = _base()
    _sweep(base)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
    lock = os.open(folder / _HELD, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        hand_over(folder, account)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _base() -> Path:
    base = Path(tempfile.gettempdir())
    return base if len(os.fsencode(base)) <= _LONGEST_BASE else Path("/tmp")  # noqa: S108 (short)


def _sweep(base: Path) -> None:
    for folder in base.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # somebody else's, or swept by another at this moment
            if _is_left_behind(folder):
                shutil.rmtree(folder)


def _is_left_behind(folder: Path) -> bool:
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or time.time() - status.st_mtime < _YOUNG:
        return False
    try:
        lock = os.open(folder / _HELD, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True
