"""Zip, tar.gz and gzip files to the files in them, within limits.

Sizes in an archive's own directory may lie: what is unpacked is counted while it is read.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import Protocol

from app.errors import ImportRefused
from app.importers.values import SourceFile

MAX_UNPACKED_BYTES = 256 * 2**20  # of all files of one import together
MAX_FILES = 2_000
_CHUNK = 2**20
_BROKEN = (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, OSError)


def unpack(files: Iterable[SourceFile]) -> list[SourceFile]:
    """The files themselves, with archives replaced by what is in them. Archives do not nest.

    Raises:
        ImportRefused: an archive is broken, encrypted, or unpacks to more than the limits.
    """
    budget = _Budget()
    return [member for file in files for member in _members(file, budget)]


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Budget:
    """What may still be unpacked."""

    def __init__(self) -> None:
        self.bytes = MAX_UNPACKED_BYTES
        self.files = MAX_FILES

    def read(self, stream: _Readable) -> bytes:
        """All of `stream`, as long as it fits."""
        self.files -= 1
        parts = []
        while chunk := stream.read(_CHUNK):
            self.bytes -= len(chunk)
            parts.append(chunk)
            if self.bytes < 0:
                break
        if self.bytes < 0 or self.files < 0:
            raise ImportRefused(
                f"The archive holds more than {MAX_FILES} files or "
                f"{MAX_UNPACKED_BYTES // 2**20} MB: import its sessions one by one."
            )
        return b"".join(parts)


def _members(file: SourceFile, budget: _Budget) -> Iterator[SourceFile]:
    try:
        if file.data.startswith(b"PK\x03\x04"):
            yield from _zip(file, budget)
        elif file.data.startswith(b"\x1f\x8b"):
            yield from _gzip(file, budget)
        else:
            yield file
    except (RuntimeError, NotImplementedError):  # zipfile: a password, an unknown method
        raise ImportRefused("The archive is encrypted or packed in an unknown way.") from None
    except _BROKEN:
        raise ImportRefused("The archive is broken.") from None


def _zip(file: SourceFile, budget: _Budget) -> Iterator[SourceFile]:
    with zipfile.ZipFile(io.BytesIO(file.data)) as archive:
        for entry in archive.infolist():
            if not entry.is_dir():
                with archive.open(entry) as stream:
                    yield SourceFile(entry.filename, budget.read(stream))


def _gzip(file: SourceFile, budget: _Budget) -> Iterator[SourceFile]:
    with gzip.GzipFile(fileobj=io.BytesIO(file.data)) as packed:
        data = budget.read(packed)
    if not _is_tar(data):
        yield SourceFile(file.name, data)
        return
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        budget.bytes += len(data)  # its files are counted instead
        for entry in archive:
            stream = archive.extractfile(entry) if entry.isfile() else None
            if stream is not None:
                yield SourceFile(entry.name, budget.read(stream))


def _is_tar(data: bytes) -> bool:
    return data[257:262] == b"ustar"
