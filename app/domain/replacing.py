"""What a replacement does to a message: another text in the same valid structure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import regex

from app.domain.messages import Block

MAX_REPLACEMENT_BYTES = 512 * 1024

_SPEECH = ("text",)
_NOTHING_TO_SEE = regex.compile(r"[\s\p{Cf}\p{Cc}]*")


class CannotReplace(Exception):
    """The message has no one text that a replacement could stand for."""


def is_empty(text: str) -> bool:
    """Whether there is nothing in it for a model to read: blanks, controls, zero widths."""
    return _NOTHING_TO_SEE.fullmatch(text) is not None


def with_text(role: str, blocks: Sequence[Block], replacement: str) -> list[Block]:
    """The blocks with `replacement` as their text, and everything else as it was.

    A message with exactly one tool_result gets it as that result's content; another message
    gets one text block where its first one stood. Calls, thinking, images and documents stay.

    Raises:
        CannotReplace: several tool_results, so that nobody can tell which one is meant.
    """
    results = [block for block in blocks if block.get("type") == "tool_result"]
    if role == "user" and len(results) > 1:
        raise CannotReplace
    if role == "user" and results:
        return [_answered(b, replacement) if b is results[0] else b for b in blocks]
    text: Block = {"type": "text", "text": replacement}
    place = _place_of_text(blocks)
    kept = [block for block in blocks[place:] if block.get("type") not in _SPEECH]
    return [*blocks[:place], text, *kept]


def _answered(result: Block, replacement: str) -> Block:
    answer: dict[str, Any] = {**result, "content": replacement}
    return answer


def _place_of_text(blocks: Sequence[Block]) -> int:
    """Where the text belongs: at the first text, else before the first call, else at the end."""
    for kinds in (_SPEECH, ("tool_use",)):
        for index, block in enumerate(blocks):
            if block.get("type") in kinds:
                return index
    return len(blocks)
