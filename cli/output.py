"""What the CLI prints: aligned tables, pairs, JSON, and colours where a terminal wants them.

Every cell and every message passes `visible` here, so no command can forget it. Results go to
stdout; progress, notes and errors go to stderr.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cli import configuration
from cli.text import columns, cut, visible, visible_json, visible_lines

GAP = "  "
MIN_FLEXIBLE = 12
MAX_PADDED_ON_TERMINAL = 40

_SGR = {"bold": "1", "dim": "2", "red": "31", "yellow": "33"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. A flexible one is cut to fit a terminal; only one may be flexible."""

    title: str
    right: bool = False
    flexible: bool = False


def on_terminal() -> bool:
    """Whether a person reads stdout as it is printed."""
    return sys.stdout.isatty()


def terminal_width() -> int | None:
    """The columns of the terminal on stdout; None where stdout is a file or a pipe."""
    return shutil.get_terminal_size().columns if on_terminal() else None


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
    if width is not None:
        widths = _fitted(layout, widths, width)
    return [
        _row(layout, row, sizes, widths, width) for row, sizes in zip(cells, measured, strict=True)
    ]


def _fitted(layout: Sequence[Column], widths: list[int], width: int) -> list[int]:
    capped = [min(each, MAX_PADDED_ON_TERMINAL) for each in widths]
    flexible = next((i for i, column in enumerate(layout) if column.flexible), None)
    if flexible is None:
        return capped
    others = sum(capped) - capped[flexible] + len(GAP) * (len(layout) - 1)
    capped[flexible] = min(widths[flexible], max(MIN_FLEXIBLE, width - others))
    return capped


def _row(
    layout: Sequence[Column],
    cells: list[str],
    sizes: list[int],
    widths: list[int],
    width: int | None,
) -> str:
    spilled = sum(
        max(0, size - room)
        for column, size, room in zip(layout, sizes, widths, strict=True)
        if not column.flexible
    )
    padded = []
    for column, cell, size, room in zip(layout, cells, sizes, widths, strict=True):
        text = cell
        if column.flexible and width is not None:
            room = max(MIN_FLEXIBLE, room - spilled)
            text = cut(cell, room)
            size = columns(text)
        padded.append(" " * (room - size) + text if column.right else text + " " * (room - size))
    return GAP.join(padded).rstrip()
