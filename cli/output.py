"""What the CLI prints: aligned tables, pairs, JSON, and colours where a terminal wants them.

Every cell and every message passes `visible` here, so no command can forget it. Results go to
stdout; progress, notes and errors go to stderr.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cli import configuration
from cli.text import columns, cut, visible, visible_json, visible_lines

GAP = "  "
MIN_FLEXIBLE = 12
MAX_PADDED_ON_TERMINAL = 40

_SGR = {"bold": "1", "dim": "2", "red": "31", "yellow": "33"}


class Column(NamedTuple):
    """A column of a table. A flexible one is cut to fit a terminal; only one may be flexible."""

    title: str
    right: bool = False
    flexible: bool = False


def on_terminal() -> bool:
    """Whether a person reads stdout as it is printed."""
    return sys.stdout.isatty()


def terminal_width() -> int | None:
    """The columns of the terminal on stdout; None where stdout is a file or a pipe."""
    # Some pseudo-terminals have no size; 80 columns are what terminals began with.
    return os.get_terminal_size(sys.stdout.fileno()).columns or 80 if on_terminal() else None


def line(text: str = "", style: str | None = None) -> None:
    """Print one line."""
    sys.stdout.write(styled(visible(text), style) + "\n")


def raw(text: str, style: str | None = None) -> None:
    """Print one line that `laid_out` made."""
    sys.stdout.write(styled(text, style) + "\n")


def lines(text: str) -> None:
    """Print text of several lines, safe to look at."""
    sys.stdout.write(visible_lines(text).rstrip("\n") + "\n")


def content(text: str) -> None:
    """Print content: to a pipe byte for byte, to a terminal so that it is safe to look at."""
    if on_terminal():
        lines(text)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))


def document(value: object) -> None:
    """Print one JSON document: indented on a terminal, in one line to a pipe."""
    text = json.dumps(value, ensure_ascii=False, indent=2 if on_terminal() else None)
    sys.stdout.write(visible_json(text) + "\n")


def note(text: str) -> None:
    """Print one line to stderr, beside the result."""
    sys.stderr.write(visible(text) + "\n")


def styled(text: str, style: str | None) -> str:
    """`text` in a style of _SGR, where colours are shown."""
    if style is None or not text or not (on_terminal() and configuration.colours_wanted()):
        return text
    return f"\x1b[{_SGR[style]}m{text}\x1b[0m"


def table(layout: Sequence[Column], rows: Iterable[Sequence[object]]) -> None:
    """Print a table with its head."""
    head, *body = laid_out(layout, rows, terminal_width())
    raw(head, "bold")
    for each in body:
        raw(each)


def pairs(rows: Sequence[tuple[str, object]]) -> None:
    """Print names and values, aligned."""
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        line(f"{name.ljust(width)}{GAP}{shown(value)}")


def shown(value: object) -> str:
    """A value of an answer, for people; what is unknown is a dash, never 0."""
    if isinstance(value, str):
        return value
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def moment(value: object) -> str:
    """An RFC 3339 time, to the minute."""
    return value[:16].replace("T", " ") if isinstance(value, str) else shown(None)


def laid_out(
    layout: Sequence[Column], rows: Iterable[Sequence[object]], width: int | None
) -> list[str]:
    """The lines of a table, its head first, in at most `width` columns where that is possible.

    Only the flexible column is cut; a cell of another one is always whole, so that ids can be
    copied, and a very long one pushes its row alone.
    """
    cells = [[column.title for column in layout]]
    cells += [[visible(shown(cell)) for cell in row] for row in rows]
    measured = [[columns(cell) for cell in row] for row in cells]
    widths = [max(each) for each in zip(*measured, strict=True)]
    flexible = next((index for index, column in enumerate(layout) if column.flexible), None)
    if width is not None and flexible is not None:
        widths = _fitted(widths, flexible, width)
        for row, sizes in zip(cells, measured, strict=True):
            _cut(row, sizes, widths, flexible)
    return [_row(layout, row, sizes, widths) for row, sizes in zip(cells, measured, strict=True)]


def _fitted(widths: list[int], flexible: int, width: int) -> list[int]:
    """The widths of the columns such that most rows fit, whatever one cell says."""
    fitted = [min(each, MAX_PADDED_ON_TERMINAL) for each in widths]
    others = sum(fitted) - fitted[flexible] + len(GAP) * (len(fitted) - 1)
    fitted[flexible] = min(widths[flexible], max(MIN_FLEXIBLE, width - others))
    return fitted


def _cut(row: list[str], sizes: list[int], widths: list[int], flexible: int) -> None:
    """Bring the flexible cell to the width of its column, less what other cells stand out."""
    out = [max(0, size - width) for size, width in zip(sizes, widths, strict=True)]
    room = max(min(MIN_FLEXIBLE, widths[flexible]), widths[flexible] - sum(out) + out[flexible])
    if sizes[flexible] > room or room < widths[flexible]:
        text = cut(row[flexible], room)
        row[flexible] = text + " " * (room - columns(text))
        sizes[flexible] = widths[flexible]


def _row(layout: Sequence[Column], cells: list[str], sizes: list[int], widths: list[int]) -> str:
    padded = [
        " " * (room - size) + cell if column.right else cell + " " * (room - size)
        for column, cell, size, room in zip(layout, cells, sizes, widths, strict=True)
    ]
    return GAP.join(padded).rstrip()
