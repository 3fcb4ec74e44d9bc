"""What the doors let in and a provider would refuse, put right in the outgoing copy.

The codes are those of `app.domain.validity.findings.REPAIRED`. Stored messages keep what they have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from app.domain.blocks import THINKING
from app.domain.messages import Block


class Turn(NamedTuple):
    """Neighbouring messages of one role, as the provider joins them."""

    role: str
    blocks: list[Block]


def repaired(turns: Iterable[Turn], *, system_messages: bool) -> list[Turn]:
    """The turns as they can be sent; `system_messages`: whether the model takes that role."""
    placed = _joined(_placed(turns) if system_messages else _spoken_by_user(turns))
    whole = _joined(turn for turn in _without_last_thinking(placed) if turn.blocks)
    return list(_answering(whole))


def _joined(turns: Iterable[Turn]) -> list[Turn]:
    return [
        Turn(role, [block for turn in same for block in turn.blocks])
        for role, same in groupby(turns, key=lambda turn: turn.role)
    ]


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


def _without_last_thinking(turns: Sequence[Turn]) -> Iterator[Turn]:
    """A turn of the assistant that is not the last does not end on thinking (thinking_last)."""
    for index, (role, blocks) in enumerate(turns):
        ends = blocks and blocks[-1].get("type") in THINKING
        if role == "assistant" and ends and index + 1 < len(turns):
            yield Turn(role, [block for block in blocks if block.get("type") not in THINKING])
        else:
            yield Turn(role, blocks)


def _answering(turns: Iterable[Turn]) -> Iterator[Turn]:
    """Results first, in the order of their calls, and each as its call wants it."""
    calls: dict[str, Block] = {}
    for role, blocks in turns:
        plain = [_plain(block) for block in blocks]
        if role == "user":
            plain = _results_first(plain, calls)
        if role != "system":
            calls = {b["id"]: b for b in plain if b.get("type") == "tool_use"}
        yield Turn(role, plain)


def _results_first(blocks: list[Block], calls: Mapping[str, Block]) -> list[Block]:
    """tool_result_not_first, toolset_name_missing, tool_error_not_text."""
    results = [block for block in blocks if block.get("type") == "tool_result"]
    if not results:
        return blocks
    place = {call: index for index, call in enumerate(calls)}
    results.sort(key=lambda block: place.get(block["tool_use_id"], len(place)))
    answers = [_answer(block, calls.get(block["tool_use_id"], {})) for block in results]
    return answers + [block for block in blocks if block.get("type") != "tool_result"]


def _answer(result: Block, call: Block) -> Block:
    content = result.get("content")
    if result.get("is_error") and isinstance(content, list):
        result = result | {"content": [b for b in content if b.get("type") == "text"]}
    if call.get("toolset_name"):
        result = result | {"toolset_name": call["toolset_name"]}
    return result


def _plain(block: Block) -> Block:
    """Without a client's own cache mark: hango places its own, four are the most."""
    content: Any = block.get("content")
    if block.get("type") == "tool_result" and isinstance(content, list):
        block = block | {"content": [_unmarked(each) for each in content]}
    return _unmarked(block)


def _unmarked(block: Block) -> Block:
    if "cache_control" not in block:
        return block
    return {key: value for key, value in block.items() if key != "cache_control"}
