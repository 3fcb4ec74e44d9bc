"""Paths of memory and session files: one exact string each, compared and never cleaned up."""

from __future__ import annotations

import re

from app.errors import Fault, Refused

MEMORY_ROOT = "/memories/"
MAX_PATH_CHARACTERS = 400  # so that a part id holds it

# U+FFFD stands where the bytes of a URL were no UTF-8: two such URLs would name one file.
_UNSEEN = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffd]")


class BadPath(Refused):
    """Not a path that a file can have."""

    code, title = "bad_path", "No file can have this path"


def absolute(path: str) -> str:
    """The path with its leading slash."""
    return path if path.startswith("/") else "/" + path


def check_memory_path(path: str) -> str:
    """Check that a memory file may be stored under this path, and return it as it is.

    Raises:
        BadPath: it does not start with /memories/, or no file may have it.
    """
    if not path.startswith(MEMORY_ROOT):
        raise _bad(f"Memory files lie under {MEMORY_ROOT}")
    return _check(path)


def check_file_path(path: str) -> str:
    """The same for a file of a session, which lies anywhere but under /memories/.

    Raises:
        BadPath: it lies there, or no file may have it.
    """
    if path.startswith(MEMORY_ROOT):
        raise _bad(f"What lies under {MEMORY_ROOT} belongs to the agent: use its memory.")
    return _check(path)


def _check(path: str) -> str:
    if len(path) > MAX_PATH_CHARACTERS:
        raise _bad(f"At most {MAX_PATH_CHARACTERS} characters.")
    if _UNSEEN.search(path):
        raise _bad("No control characters, and percent-encoded UTF-8 alone.")
    if any(step in ("", ".", "..") for step in path[1:].split("/")):
        raise _bad("No empty step (//, or / at the end), no step . or ..")
    return path


def _bad(advice: str) -> BadPath:
    return BadPath(faults=[Fault("path", "bad_path", advice)])
