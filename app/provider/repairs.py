"""What the doors let in and a provider would refuse, as far as it is a matter of order.

The codes are those of `app.domain.validity.findings.REPAIRED`. Stored messages keep what they have.
What changes a message's own content is done before, where inspect sees it:
`app.chain.sendable_content`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from app.domain.messages import Block


class Turn(NamedTuple):
    """Neighbouring messages of one role, as the provider joins them."""

    role: str
    blocks: list[Block]


def repaired(turns: Iterable[Turn], *, system_messages: bool) -> list[Turn]:
    """The turns as they can be sent; `system_messages`: whether the model takes that role."""
    placed = _joined(_placed(turns) if system_messages else _spoken_by_user(turns))
    return list(_answering(placed))


def _joined(turns: Iterable[Turn]) -> list[Turn]:
    joined: list[Turn] = []
    for turn in turns:
        if joined and joined[-1].role == turn.role:
            joined[-1].blocks.extend(turn.blocks)
        else:
            joined.append(Turn(turn.role, list(turn.blocks)))
    return joined


def _spoken_by_user(turns: Iterable[Turn]) -> Iterator[Turn]:
    """For models that know no system messages: the user says it (system_msg_model)."""
    for turn in turns:
        yield Turn("user", turn.blocks) if turn.role == "system" else turn


def _placed(turns: Iterable[Turn]) -> Iterator[Turn]:
    """System messages behind a whole user turn, and before the assistant's (system_msg_place)."""
    held: list[Turn] = []
    speaker = ""
    for turn in turns:
        if turn.role == "system":
            held.append(turn)
            continue
        if turn.role == "assistant" and speaker == "user":
            yield from held
            held = []
        speaker = turn.role
        yield turn
    yield from held


def _answering(turns: Iterable[Turn]) -> Iterator[Turn]:
    """Results first, in the order of their calls, and each with its call's toolset."""
    calls: dict[str, Block] = {}
    for role, blocks in turns:
        ordered = _results_first(blocks, calls) if role == "user" else blocks
        if role != "system":
            calls = {b["id"]: b for b in blocks if b.get("type") == "tool_use"}
        yield Turn(role, ordered)


def _results_first(blocks: list[Block], calls: Mapping[str, Block]) -> list[Block]:
    """tool_result_not_first, toolset_name_missing."""
    results = [block for block in blocks if block.get("type") == "tool_result"]
    if not results:
        return blocks
    place = {call: index for index, call in enumerate(calls)}
    results.sort(key=lambda block: place.get(block["tool_use_id"], len(place)))
    answers = [_answer(block, calls.get(block["tool_use_id"], {})) for block in results]
    return answers + [block for block in blocks if block.get("type") != "tool_result"]


def _answer(result: Block, call: Block) -> Block:
    toolset = call.get("toolset_name")
    return result | {"toolset_name": toolset} if toolset else result
