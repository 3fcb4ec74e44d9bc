"""A request in the one form by which prefixes are compared: by the cache, and by thinking."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

Body = Mapping[str, Any]
THINKING = ("thinking", "redacted_thinking")


class Place(NamedTuple):
    """A content block of `messages`, and where it stands in the request as it was sent."""

    message: int
    block: int
    role: str
    value: dict[str, Any]

    @property
    def path(self) -> str:
        return f"messages.{self.message}.content.{self.block}"


def blocks_of(content: Any) -> list[dict[str, Any]]:
    """A string is the same as one text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content or ())


def places(body: Body) -> Iterator[Place]:
    """All blocks in order. Turns of one role run into each other, as the API joins them."""
    for number, message in enumerate(body["messages"]):
        for index, block in enumerate(blocks_of(message["content"])):
            yield Place(number, index, message["role"], block)


def plain(block: Mapping[str, Any]) -> str:
    """A block without cache marks and without the freedoms of JSON."""
    kept = {name: value for name, value in block.items() if name != "cache_control"}
    if block.get("type") == "tool_result":
        kept["content"] = [json.loads(plain(each)) for each in blocks_of(block.get("content"))]
    return json.dumps(kept, sort_keys=True, ensure_ascii=False)


def chained(digest: bytes, *more: str) -> bytes:
    """The hash of a prefix that is one step longer."""
    return sha256(digest + "\0".join(more).encode("utf-8", "surrogatepass")).digest()


def tokens(written: str) -> int:
    """A rough count, the same for the same text; media are not counted by their bytes."""
    return 1_500 if '"base64"' in written else len(written.encode("utf-8", "replace")) // 4 + 1
