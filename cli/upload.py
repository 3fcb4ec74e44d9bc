"""Files as one multipart body that is read while it is sent (RFC 7578)."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cli.exits import Exit, Stop
from cli.http import PIECE_BYTES, Body


class Upload(NamedTuple):
    """One file to send. `name` is what the server is told; it may hold a path."""

    name: str
    path: Path
    size_bytes: int


def found(path: Path, name: str) -> Upload:
    """The file at `path`, as large as it is now.

    Raises:
        Stop: it is not there, or not a regular file that can be read.
    """
    try:
        if not path.is_file():
            raise Stop(f"{path} is no file.", "Give a transcript, or its folder.", Exit.USAGE)
        with path.open("rb"):
            return Upload(name, path, path.stat().st_size)
    except OSError as error:
        raise Stop(f"{path} cannot be read: {error.strerror}.", exit_code=Exit.USAGE) from None


def multipart(files: Sequence[Upload], fields: dict[str, str], sent: Callable[[int], None]) -> Body:
    """A form of `fields`, and of `files` all named `file`; `sent` hears of each piece's bytes."""
    boundary = uuid.uuid4().hex
    texts = [(_field_head(boundary, name), value.encode()) for name, value in fields.items()]
    heads = [_file_head(boundary, file.name) for file in files]
    tail = f"--{boundary}--\r\n".encode()
    length = sum(len(head) + len(value) + 2 for head, value in texts) + len(tail)
    length += sum(len(head) + file.size_bytes + 2 for head, file in zip(heads, files, strict=True))

    def pieces() -> Iterator[bytes]:
        for head, value in texts:
            yield head + value + b"\r\n"
        for head, file in zip(heads, files, strict=True):
            yield head
            for piece in _read(file):
                yield piece
                sent(len(piece))
            yield b"\r\n"
        yield tail

    return Body(f"multipart/form-data; boundary={boundary}", length, pieces())


def _read(file: Upload) -> Iterator[bytes]:
    """Exactly as many bytes as were announced, of a file that may grow meanwhile."""
    left = file.size_bytes
    with file.path.open("rb") as stream:
        while left:
            piece = stream.read(min(PIECE_BYTES, left))
            if not piece:
                raise Stop(f"{file.path} became shorter while it was sent.", "Try again.")
            left -= len(piece)
            yield piece


def _field_head(boundary: str, name: str) -> bytes:
    return f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode()


def _file_head(boundary: str, name: str) -> bytes:
    # The three characters that would end the value are percent-encoded, as browsers do it
    # (HTML, "multipart/form-data encoding algorithm").
    for char, escape in (('"', "%22"), ("\r", "%0D"), ("\n", "%0A")):
        name = name.replace(char, escape)
    head = (
        f"--{boundary}\r\n"
        f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    return head.encode("utf-8", "replace")
