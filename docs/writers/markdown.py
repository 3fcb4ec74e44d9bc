"""Tables and cells of Markdown, and the pages that they are set into."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from string import Template

_TEMPLATES = Path(__file__).with_name("templates")


def filled(template: str, **pieces: str) -> str:
    """The page of this template with every `$name` in it replaced, ending in one newline."""
    text = (_TEMPLATES / template).read_text(encoding="utf-8")
    return Template(text).substitute(pieces).rstrip("\n") + "\n"


def cell(text: str) -> str:
    """A text on one line, safe inside a table."""
    return " ".join(text.split()).replace("|", "\\|")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table without alignment: a change of one row changes one line."""
    lines = [_line(head), _line(["---"] * len(head)), *map(_line, rows)]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
