"""The documents of the repository as the rules look at them: blocks of code, tables, links."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
PAGES = [path for path in DOCUMENTS if "templates" not in path.parts]

_FENCE = re.compile(r"^```(.*)$")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CAPTURE = re.compile(r"(\w+)=\$\((.*)\)\n*", re.DOTALL)
_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its info string, its text, and where it stands."""

    info: str
    text: str
    path: Path
    line: int

    @property
    def at(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}"


def blocks(path: Path) -> list[Block]:
    found: list[Block] = []
    opened: tuple[int, str, list[str]] | None = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        fence = _FENCE.match(line)
        if fence is None:
            if opened:
                opened[2].append(line)
        elif opened is None:
            opened = (number, fence[1].strip(), [])
        else:
            found.append(Block(opened[1], "\n".join(opened[2]), path, opened[0]))
            opened = None
    assert opened is None, f"{path} has a fence that is not closed"
    return found


def prose(path: Path) -> str:
    """The text without fenced blocks."""
    return re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)


def links(path: Path) -> list[str]:
    return _LINK.findall(prose(path))


def code_words(path: Path) -> list[str]:
    """What stands between single backticks."""
    return _CODE.findall(prose(path))


def rows(path: Path, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    below = path.read_text(encoding="utf-8").split(f"\n## {heading}\n", 1)[1]
    lines = re.search(r"(?:^\|.*\n?)+", below, flags=re.MULTILINE)
    assert lines, f"No table below {heading}"
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines[0].splitlines()[2:]
    ]


def anchors(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def captured(text: str) -> tuple[str | None, str]:
    """The variable that takes what a command prints, and the command: NAME=$(command)."""
    found = _CAPTURE.fullmatch(text)
    return (found[1], found[2]) if found else (None, text)


def commands(text: str) -> Iterator[list[str]]:
    """The commands of a shell block as words: pipelines taken apart, redirections left out."""
    for line in _whole_lines(captured(text)[1]):
        command: list[str] = []
        words = iter(shlex.split(line, comments=True))
        for word in words:
            if word == "|":
                yield command
                command = []
            elif word in (">", "<"):
                next(words)
            else:
                command.append(word)
        if command:
            yield command


def _whole_lines(text: str) -> Iterator[str]:
    """Lines joined where a backslash or an open quote says that they go on."""
    waiting = ""
    for line in text.splitlines():
        waiting += line
        if waiting.endswith("\\"):
            waiting = waiting[:-1]
        elif _is_closed(waiting):
            yield waiting
            waiting = ""
        else:
            waiting += "\n"
    assert not waiting, f"A quote is not closed: {waiting}"


def _is_closed(text: str) -> bool:
    try:
        shlex.split(text, comments=True)
    except ValueError:
        return False
    return True
