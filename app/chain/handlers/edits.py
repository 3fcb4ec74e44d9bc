"""Replacing one exact text in a file."""

from __future__ import annotations

from app.domain.files import check_length
from app.domain.tools import ToolError


def edited(content: str, old: str, new: str, *, everywhere: bool) -> str:
    """`content` with `old` replaced by `new`: at its only place, or wherever it stands.

    Raises:
        ToolError: it is not there, or more than once; or nothing would change.
        NoRoom: the file would become too long.
    """
    if not old:
        raise ToolError("old_text is empty. To write a whole file, use write_file.")
    if old == new:
        raise ToolError("old_text and new_text are the same: nothing to change.")
    at = content.find(old)
    if at < 0:
        raise ToolError(_not_there(content, old))
    if not everywhere:
        _check_only(content, old, at)
        check_length(len(content) - len(old) + len(new))
        return content[:at] + new + content[at + len(old) :]
    # Before it is made: a short text in many places can become gigabytes.
    check_length(len(content) + content.count(old) * (len(new) - len(old)))
    return content.replace(old, new)


def _check_only(content: str, old: str, at: int) -> None:
    # From the next character on: "aa" stands twice in "aaa", and either could be meant.
    other = content.find(old, at + 1)
    if other >= 0:
        first, second = (content.count("\n", 0, each) + 1 for each in (at, other))
        raise ToolError(
            f"old_text stands there more than once, in lines {first:,} and {second:,}"
            " first. Add what stands around the right place, or set replace_all."
        )


def _not_there(content: str, old: str) -> str:
    if "\n" in old and "\r" not in old and old.replace("\n", "\r\n") in content:
        return (
            "The lines of this file end in \\r\\n: send old_text and new_text with \\r\\n as well."
        )
    return (
        "old_text is not in the file. Read the file again and copy the text exactly, with its"
        " blanks and without line numbers."
    )
