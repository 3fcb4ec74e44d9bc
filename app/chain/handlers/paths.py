"""Paths as the model writes them: one exact string each; what is wrong is said, never put right."""

from __future__ import annotations

from app.domain.paths import (
    MAX_PATH_CHARACTERS,
    MEMORY_ROOT,
    BadPath,
    check_file_path,
    check_memory_path,
)
from app.domain.tools import ToolError


def file_path(path: str) -> str:
    """The path of a file. Raises ToolError where no file can have it."""
    if not path.startswith("/"):
        raise ToolError("Paths are absolute: start with a slash.")
    if path.endswith("/") or path == MEMORY_ROOT.removesuffix("/"):
        raise ToolError("This is the path of a folder. Name a file in it.")
    check = check_memory_path if path.startswith(MEMORY_ROOT) else check_file_path
    try:
        return check(path)
    except BadPath as error:
        raise ToolError(f"No file can have this path. {error.faults[0].detail}") from None


def folder_path(path: str) -> str:
    """The path of a folder, with the slash at its end. Raises ToolError if it has no slash first.

    Every path that starts with it lies in the folder.
    """
    if not path.startswith("/"):
        raise ToolError("Paths are absolute: start with a slash.")
    if len(path) > MAX_PATH_CHARACTERS:
        raise ToolError("There is no such folder.")
    return path if path.endswith("/") else f"{path}/"
