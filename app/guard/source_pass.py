"""Source pass: the compact form of a tool output that is too long, decided when it is written.

The compact form is what the model sees from then on. It is stored beside the raw output and never
made again, so that a later change of a budget or of a count cannot move the cached prefix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

LEAST_BUDGET = 200  # tokens: room for what is said about the cut, and for something beside it

_HEAD = 0.6  # of the room: how a command began, and for the rest how it ended
_LINE_SEARCH = 0.2  # of a piece: how much of it may be given up to end it at a line's end
_CHARACTERS_PER_TOKEN = 4  # no piece is longer than this allows, so that counting stays cheap


@dataclass(frozen=True, slots=True)
class CompactOutput:
    """What the model sees of a tool output, and how much there was."""

    text: str
    original_tokens: int
    left_out: int = 0  # characters; 0: it is the output itself


def compact_output(
    output: str, budget_tokens: int, count: Callable[[str], int], *, how_to_read: str
) -> CompactOutput:
    """The output itself where it fits, otherwise its beginning and its end.

    The text, with all that is said about the cut, costs at most `budget_tokens` by `count`; a
    compact form that is compacted again therefore stays as it is. `how_to_read` is one sentence
    for the model on how to get at the rest. `count` is asked for the whole output once, and
    otherwise for pieces of about the budget's size.

    Raises:
        ValueError: the budget is below LEAST_BUDGET, or too small for `how_to_read`.
    """
    if budget_tokens < LEAST_BUDGET:
        raise ValueError(f"A tool output needs {LEAST_BUDGET} tokens at least")
    total = count(output)
    if total <= budget_tokens:
        return CompactOutput(output, total)
    room = budget_tokens - count(_framed("", "", len(output), total, how_to_read))
    while room > 0:
        head, tail = _ends(output, room, count)
        left_out = len(output) - len(head) - len(tail)
        text = _framed(head, tail, left_out, total, how_to_read)
        excess = count(text) - budget_tokens
        if excess <= 0:
            return CompactOutput(text, total, left_out)
        room -= excess  # where pieces meet, tokens differ from those of the pieces alone
    raise ValueError("how_to_read leaves no room for the output")


def _framed(head: str, tail: str, left_out: int, total: int, how_to_read: str) -> str:
    said = (
        f"[This output has {total:,} tokens, which is too much to show. Its beginning and its end"
        f" follow. {how_to_read}]"
    )
    return f"{said}\n{head}\n[… {left_out:,} characters left out …]\n{tail}"


def _ends(output: str, room: int, count: Callable[[str], int]) -> tuple[str, str]:
    head = _head(output, int(room * _HEAD), count)
    rest = output[len(head) :]
    size = _size_within(room - int(room * _HEAD), len(rest), lambda n: count(rest[len(rest) - n :]))
    return head, _from_line(rest[len(rest) - size :])


def _head(output: str, tokens: int, count: Callable[[str], int]) -> str:
    head = output[: _size_within(tokens, len(output), lambda n: count(output[:n]))]
    end = head.rfind("\n")
    return head[: end + 1] if end >= len(head) * (1 - _LINE_SEARCH) else head


def _from_line(tail: str) -> str:
    start = tail.find("\n")
    return tail[start + 1 :] if 0 <= start <= len(tail) * _LINE_SEARCH else tail


def _size_within(tokens: int, longest: int, cost: Callable[[int], int]) -> int:
    """How many characters cost at most `tokens`: near the most, found in a few steps."""
    size = min(longest, tokens * _CHARACTERS_PER_TOKEN)
    while size and (found := cost(size)) > tokens:
        size = min(size - 1, size * tokens // found)
    return size
