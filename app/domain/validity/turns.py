"""A whole request's messages as turns: neighbours of one role joined, as the provider does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from app.domain.blocks import CALLS, RESULTS, SERVER, THINKING
from app.domain.validity.block_types import ROLES
from app.domain.validity.findings import Finding, Path


@dataclass(frozen=True)
class Turn:
    """The blocks of neighbouring messages of one role, each with its path.

    All are there before anything is asked about them.
    """

    role: str
    path: Path  # of the first message
    blocks: list[tuple[Path, Mapping[str, Any]]] = field(default_factory=list)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The types of its blocks."""
        return frozenset(str(block.get("type")) for _, block in self.blocks)

    @cached_property
    def calls(self) -> dict[str, tuple[Path, Mapping[str, Any]]]:
        """The calls that the user has to answer, by id."""
        return {
            str(block.get("id")): (path, block)
            for path, block in self.blocks
            if block.get("type") == "tool_use"
        }

    @property
    def last_type(self) -> str:
        """The type of its last block; empty when it has none."""
        return str(self.blocks[-1][1].get("type")) if self.blocks else ""


def joined(messages: Sequence[Any]) -> list[Turn]:
    """The turns of a request. What is no message is passed over: its shape is checked elsewhere."""
    turns: list[Turn] = []
    for index, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if isinstance(role, str) and role in ROLES:
            path = ("messages", index)
            if not turns or turns[-1].role != role:
                turns.append(Turn(role, path))
            turns[-1].blocks.extend(_blocks(message.get("content"), (*path, "content")))
    return turns


def all_blocks(turns: Iterable[Turn]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The blocks of all turns, and those inside the tool results among them."""
    for turn in turns:
        for path, block in turn.blocks:
            yield path, block
            content = block.get("content") if block.get("type") == "tool_result" else None
            if isinstance(content, list):
                yield from _blocks(content, (*path, "content"))


def turn_findings(turns: Sequence[Turn]) -> Iterator[Finding]:
    """The order of turns, and the pairs of calls and results in them."""
    if not turns:
        return
    yield from _placement(turns)
    spoken = _without_system(turns)
    yield from _client_pairs(spoken)
    yield from _server_pairs(spoken)
    yield from _repeated_ids(spoken)


def open_server_calls(turns: Sequence[Turn]) -> bool:
    """Whether the request resumes a turn: its last server tool call has no result yet."""
    started: set[str] = set()
    for turn in turns:
        for _, block in turn.blocks if turn.kinds & _OF_SERVER else ():
            kind = str(block.get("type"))
            if CALLS.get(kind) == SERVER:
                started.add(str(block.get("id")))
            elif RESULTS.get(kind) == SERVER:
                started.discard(str(block.get("tool_use_id")))
    return bool(started)


def _blocks(content: Any, path: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    if isinstance(content, str):
        yield path, {"type": "text", "text": content}
    for index, block in enumerate(content if isinstance(content, list) else ()):
        if isinstance(block, dict):
            yield (*path, index), block


def _without_system(turns: Sequence[Turn]) -> Sequence[Turn]:
    """The turns of user and assistant, joined again where a system message stood between."""
    if all(turn.role != "system" for turn in turns):
        return turns
    spoken: list[Turn] = []
    for turn in turns:
        if turn.role == "system":
            continue
        if not spoken or spoken[-1].role != turn.role:
            spoken.append(Turn(turn.role, turn.path))
        spoken[-1].blocks.extend(turn.blocks)
    return spoken


_OF_SERVER = frozenset(
    kind for kinds in (CALLS, RESULTS) for kind, who in kinds.items() if who == SERVER
)


def _placement(turns: Sequence[Turn]) -> Iterator[Finding]:
    first = turns[0]
    kinds = [block.get("type") for _, block in first.blocks]
    compacted = kinds == ["compaction"]
    if first.role == "system" or (first.role == "assistant" and kinds[:1] != ["compaction"]):
        yield Finding(first.path, "first_not_user", "Start with a user message.")
    for index, turn in enumerate(turns):
        if _has_compaction(turn) and not (index == 0 and compacted):
            yield Finding(turn.path, "compaction_place", "It is the whole first turn, or none.")
        if turn.last_type in THINKING and index + 1 < len(turns):
            yield Finding(turn.blocks[-1][0], "thinking_last", "A turn cannot end with thinking.")
    yield from _system_placement(turns)


def _has_compaction(turn: Turn) -> bool:
    return "compaction" in turn.kinds


def _system_placement(turns: Sequence[Turn]) -> Iterator[Finding]:
    waiting: set[str] = set()  # calls without a result up to here
    speaker = ""
    for before, turn, after in zip((None, *turns), turns, (*turns[1:], None), strict=False):
        if turn.role == "assistant":
            waiting = (waiting if speaker == "assistant" else set()) | turn.calls.keys()
        elif turn.role == "user":
            waiting -= _results(turn)
        elif before and (waiting or not _may_precede_system(before)):
            yield Finding(turn.path, "system_msg_place", "It follows a complete user turn.")
        elif after and after.role == "user":
            yield Finding(turn.path, "system_msg_place", "The assistant's turn follows it.")
        speaker = speaker if turn.role == "system" else turn.role


def _may_precede_system(turn: Turn) -> bool:
    return turn.role == "user" or RESULTS.get(turn.last_type) == SERVER


def _results(turn: Turn) -> set[str]:
    if "tool_result" not in turn.kinds:
        return set()
    return {
        str(block.get("tool_use_id"))
        for _, block in turn.blocks
        if block.get("type") == "tool_result"
    }


def _client_pairs(spoken: Sequence[Turn]) -> Iterator[Finding]:
    for before, turn, after in zip((None, *spoken), spoken, (*spoken[1:], None), strict=False):
        if turn.role == "assistant":
            answered = _results(after) if after else set()
            for call, (path, _) in turn.calls.items():
                if call not in answered:
                    yield Finding(path, "tool_use_unanswered", "No tool_result in the next turn.")
        else:
            yield from _result_findings(turn, before.calls if before else {})


def _result_findings(
    turn: Turn, calls: Mapping[str, tuple[Path, Mapping[str, Any]]]
) -> Iterator[Finding]:
    seen: set[str] = set()
    behind_other = False
    for path, block in turn.blocks if "tool_result" in turn.kinds else ():
        if block.get("type") != "tool_result":
            behind_other = True
            continue
        call = str(block.get("tool_use_id"))
        if behind_other:
            yield Finding(path, "tool_result_not_first", "Results stand before anything else.")
        if call not in calls:
            yield Finding(path, "tool_result_orphan", "The turn before has no such call.")
        elif call in seen:
            yield Finding(path, "tool_result_twice", "The call has its result already.")
        elif calls[call][1].get("toolset_name") != block.get("toolset_name"):
            yield Finding(path, "toolset_name_missing", "Repeat the call's toolset_name.")
        seen.add(call)


def _server_pairs(spoken: Sequence[Turn]) -> Iterator[Finding]:
    running: set[str] = set()
    for turn in spoken:
        if not running and not turn.kinds & _OF_SERVER:
            continue
        for path, block in turn.blocks:
            kind = str(block.get("type"))
            if CALLS.get(kind) == SERVER:
                running.add(str(block.get("id")))
            elif RESULTS.get(kind) == SERVER:
                if str(block.get("tool_use_id")) not in running:
                    yield Finding(path, "server_result_orphan", "No call of it stands before.")
                running.discard(str(block.get("tool_use_id")))
            elif running and turn.role == "user" and kind != "tool_result":
                yield Finding(path, "text_after_result_server", "A server tool still runs.")
                running.clear()


def _repeated_ids(spoken: Sequence[Turn]) -> Iterator[Finding]:
    used: set[str] = set()
    for turn in spoken:
        for path, block in turn.blocks if turn.kinds & CALLS.keys() else ():
            if str(block.get("type")) in CALLS:
                call = str(block.get("id"))
                if call in used:
                    yield Finding(path, "tool_use_id_twice", "Ids of calls are unique.")
                used.add(call)
