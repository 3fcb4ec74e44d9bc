"""Cache marks: how many, where, and in which order their lifetimes stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from app.domain.validity.findings import Finding, Path

MAX_MARKS = 4  # in the whole request, the automatic one counted


class Mark(NamedTuple):
    """An explicit cache mark and its lifetime."""

    path: Path
    ttl: str


def cache_findings(body: Mapping[str, Any]) -> Iterator[Finding]:
    """What is wrong with the marks of a request: tools, system and messages together."""
    marks = list(_marks(body))
    automatic = isinstance(body.get("cache_control"), dict)
    if len(marks) + automatic > MAX_MARKS and len(marks) != MAX_MARKS:
        yield Finding((), "cache_marks_too_many", f"At most {MAX_MARKS} cache marks.")
    if automatic and (len(marks) == MAX_MARKS or _is_at_odds(body, marks)):
        yield Finding(("cache_control",), "cache_auto_conflict", "No room for one more mark.")
    yield from _order(marks)


def _order(marks: Sequence[Mark]) -> Iterator[Finding]:
    short_seen = False
    for mark in marks:
        if mark.ttl == "1h" and short_seen:
            yield Finding(mark.path, "cache_ttl_order", "Marks of 1h stand before those of 5m.")
        short_seen = short_seen or mark.ttl == "5m"


def _is_at_odds(body: Mapping[str, Any], marks: Sequence[Mark]) -> bool:
    """Whether the last block, where the automatic mark falls, has one of another lifetime."""
    blocks = list(_request_blocks(body))
    last = blocks[-1][0] if blocks else ()
    return bool(marks) and marks[-1].path == last and marks[-1].ttl != _ttl(body["cache_control"])


def _marks(body: Mapping[str, Any]) -> Iterator[Mark]:
    for path, block in _request_blocks(body):
        control = block.get("cache_control")
        if isinstance(control, dict):
            yield Mark(path, _ttl(control))


def _ttl(control: Mapping[str, Any]) -> str:
    return str(control.get("ttl", "5m"))


def _request_blocks(body: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Whatever can carry a mark, in the order of the prefix: tools, system, messages."""
    yield from _within(body.get("tools"), ("tools",))
    yield from _within(body.get("system"), ("system",))
    for path, message in _within(body.get("messages"), ("messages",)):
        for at, block in _within(message.get("content"), (*path, "content")):
            if block.get("type") == "tool_result":  # its blocks may be marked, and precede its end
                yield from _within(block.get("content"), (*at, "content"))
            yield at, block


def _within(items: Any, path: Path) -> Iterable[tuple[Path, Mapping[str, Any]]]:
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict):
            yield (*path, index), item
