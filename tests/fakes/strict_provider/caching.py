"""The prompt cache, simulated: prefixes at marks, found again by looking back from a mark."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from app.domain.catalogue import ModelFacts
from tests.fakes.strict_provider.canonical import (
    THINKING,
    Body,
    blocks_of,
    chained,
    places,
    plain,
    tokens,
)

LOOK_BACK = 20  # positions from a mark, itself counted


class Position(NamedTuple):
    """A place where a prefix may end."""

    digest: bytes
    tokens: int  # of the prefix, up to and including it
    ttl: str | None  # "5m" or "1h" where it is marked


class Figures(NamedTuple):
    """The input of one call. The three sorts add up to the whole input."""

    uncached: int
    read: int
    written_5m: int
    written_1h: int

    def usage(self) -> dict[str, Any]:
        return {
            "input_tokens": self.uncached,
            "cache_creation_input_tokens": self.written_5m + self.written_1h,
            "cache_read_input_tokens": self.read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.written_5m,
                "ephemeral_1h_input_tokens": self.written_1h,
            },
        }


class PromptCache:
    """The entries of one account. They do not expire: tests are shorter than five minutes."""

    def __init__(self) -> None:
        self._entries: set[bytes] = set()

    def settle(self, body: Body, facts: ModelFacts) -> Figures:
        """Read and write for one call."""
        positions = list(_positions(body))
        marks = [
            index
            for index, position in enumerate(positions)
            if position.ttl and position.tokens >= facts.min_cache_tokens
        ]
        hit = max((self._found(positions, mark) for mark in marks), default=-1)
        read = covered = positions[hit].tokens if hit >= 0 else 0
        written = {"5m": 0, "1h": 0}
        for mark in marks:
            if mark > hit:
                written[str(positions[mark].ttl)] += positions[mark].tokens - covered
                covered = positions[mark].tokens
                self._entries.add(positions[mark].digest)
        return Figures(positions[-1].tokens - covered, read, written["5m"], written["1h"])

    def _found(self, positions: list[Position], mark: int) -> int:
        for index in range(mark, max(-1, mark - LOOK_BACK), -1):
            if positions[index].digest in self._entries:
                return index
        return -1


def whole_input(body: Body) -> int:
    """The input tokens of a request, cached or not."""
    return list(_positions(body))[-1].tokens


def _positions(body: Body) -> Iterator[Position]:
    digest, total = chained(b"", str(body["model"])), 0
    for level, block in _marked(body):
        written = plain(block)
        digest = chained(digest, level, written)
        total += tokens(written)
        mark = block.get("cache_control")
        yield Position(digest, total, mark.get("ttl", "5m") if mark else None)


def _marked(body: Body) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """All blocks in the order of the prefix, each with what its level depends on."""
    blocks: list[tuple[str, Mapping[str, Any]]] = [("tools", t) for t in body.get("tools") or ()]
    blocks += [(f"system {body.get('speed')}", b) for b in blocks_of(body.get("system"))]
    level = _message_level(body)
    blocks += [(f"{level} {place.role}", place.value) for place in places(body)]
    if automatic := body.get("cache_control"):
        last = max(n for n, (_, block) in enumerate(blocks) if block.get("type") not in THINKING)
        level, block = blocks[last]
        blocks[last] = (level, {**block, "cache_control": automatic})
    yield from blocks


def _message_level(body: Body) -> str:
    switches = [body.get(name) for name in ("tool_choice", "thinking", "output_config")]
    images = any(place.value["type"] == "image" for place in places(body))
    return json.dumps([*switches, images], sort_keys=True)
