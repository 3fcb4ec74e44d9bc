"""Pages of text with line numbers, and lists that end where there is no room for more."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.domain.tools import ToolError

MAX_PAGE_LINES = 2_000
MAX_LINE_CHARACTERS = 2_000


def lines_of(content: str) -> list[str]:
    """The lines, without the newlines that end them. Nothing but a newline ends a line."""
    return content.removesuffix("\n").split("\n") if content else []


def page(content: str, offset: int, limit: int, room: int) -> str:
    """The lines from `offset` on, numbered from 1: at most `limit`, and `room` bytes of them.

    Ends with what was shown of how much, and where to go on. One line at least is shown.

    Raises:
        ToolError: there is no such line, or no such page.
    """
    if offset < 1 or limit < 1:
        raise ToolError("Lines are counted from 1: offset and limit have to be 1 or more.")
    lines = lines_of(content)
    if not lines:
        return "The file is empty."
    if offset > len(lines):
        raise ToolError(f"The file has {len(lines):,} lines: offset is behind its end.")
    wanted = lines[offset - 1 : offset - 1 + min(limit, MAX_PAGE_LINES)]
    numbered = [_numbered(number, line) for number, line in enumerate(wanted, start=offset)]
    shown = _fitting(numbered, room)
    return "\n".join([*shown, *_remarks(content, offset, len(shown), len(lines))])


def listed(lines: Sequence[str], most: int, room: int, cut: Callable[[int, int], str]) -> str:
    """The first lines: at most `most`, and `room` bytes of them; one at least.

    Where those are not all, what `cut` says of how many of how many stands behind them.
    """
    shown = _fitting(lines[:most], room)
    whole = len(shown) == len(lines)
    return "\n".join(shown if whole else [*shown, cut(len(shown), len(lines))])


def _fitting(lines: Sequence[str], room: int) -> Sequence[str]:
    """The first lines, of `room` bytes as UTF-8 with their newlines; one at least."""
    for place, line in enumerate(lines):
        room -= len(line.encode()) + 1
        if room < 0:
            return lines[: max(1, place)]
    return lines


def counted(number: int, noun: str) -> str:
    """ "1 line", "1,234 lines"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _numbered(number: int, line: str) -> str:
    line = line.removesuffix("\r")
    more = len(line) - MAX_LINE_CHARACTERS
    if more > 0:
        said = f"[line cut: {more:,} more characters; grep shows what stands around a text]"
        line = f"{line[:MAX_LINE_CHARACTERS]}… {said}"
    return f"{number:>6}\t{line}"


def _remarks(content: str, offset: int, shown: int, total: int) -> list[str]:
    last = offset + shown - 1
    if last < total:
        said = f"[Lines {offset:,} to {last:,} of {total:,}. Go on with offset={last + 1}.]"
    else:
        said = f"[End of the file: {counted(total, 'line')}.]"
    return [said, "[Lines end in \\r\\n.]"] if "\r\n" in content else [said]
