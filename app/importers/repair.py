"""From turns as recorded to a history that a provider takes. Each repair is counted.

In this order: results are paired with calls by id → the results of one turn's calls stand
together, first, in the user message behind it → a call without a result gets one that says so →
a result without a call becomes text → empty turns go, neighbours of one role become one message →
the first message is the user's. Nothing moves over the line that a compaction has drawn.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from app.domain.blocks import CALLS, RESULTS, SERVER, THINKING
from app.domain.messages import Block
from app.importers.draft import Turn
from app.importers.report import Tally

START = "(start of the imported session)"
MISSING_RESULT = "The result of this call is missing in the imported file."
ORPHAN = "[result of a tool call that is not in the imported file]"


def repair(turns: list[Turn], tally: Tally) -> list[Turn]:
    """A valid history of the turns; empty where nothing in them can be sent."""
    results = _pair(turns, tally)
    turns = _join(turns, tally, "assistant")
    turns = list(_with_results(turns, results, tally))
    _settle_server_tools(turns, tally)
    for turn in turns:
        _drop_last_thinking(turn, tally)
    turns = _join([turn for turn in turns if turn.blocks], tally)
    turns = _join(_placed_system(turns, tally), tally)
    if turns and turns[0].role != "user":
        tally.repair("start_added")
        start: list[Block] = [{"type": "text", "text": START}]
        turns.insert(0, Turn(role="user", blocks=start, compacted=turns[0].compacted))
    return turns


@dataclass(slots=True)
class _Calls:
    """The calls of one id, in order: most ids have one."""

    open: deque[str] = field(default_factory=deque)  # ids, as made unique, without a result
    early: list[Block] = field(default_factory=list)  # results that stand before any open call


def _pair(turns: list[Turn], tally: Tally) -> dict[str, Block]:
    """Take the results out of the turns: by the id of their call, which is made unique."""
    calls: dict[str, _Calls] = defaultdict(_Calls)
    results: dict[str, Block] = {}
    ids = _Ids(tally)
    for turn in turns:
        for block in turn.blocks:
            if block["type"] == "tool_use":
                source = block["id"]
                block["id"] = ids.unique(source)
                calls[source].open.append(block["id"])
            elif block["type"] == "tool_result":
                _answer(block, calls[block["tool_use_id"]], results)
    orphans = _settle_early(calls, results, tally)
    for turn in turns:
        turn.blocks = [out for block in turn.blocks for out in _left(block, orphans, tally)]
    return results


def _answer(block: Block, calls: _Calls, results: dict[str, Block]) -> None:
    if calls.open:
        results[calls.open.pop()] = block
    else:
        calls.early.append(block)


def _settle_early(
    calls: dict[str, _Calls], results: dict[str, Block], tally: Tally
) -> dict[int, Block]:
    """Pair the results that stood before their call; give back, by identity, those without one."""
    orphans = {}
    for same in calls.values():
        answered = False
        for block in same.early:
            if same.open:
                results[same.open.popleft()] = block
                answered = True
            elif answered or block["tool_use_id"] in results:
                tally.drop("second_result_of_a_call")
            else:
                orphans[id(block)] = block
    for call_id, block in results.items():
        block["tool_use_id"] = call_id
    return orphans


def _left(block: Block, orphans: dict[int, Block], tally: Tally) -> Iterator[Block]:
    """What stays in its turn when the results are taken out: all else, and orphans as text."""
    if block["type"] != "tool_result":
        yield block
    elif id(block) in orphans:
        content = _parts(block)
        if content:
            tally.repair("orphan_result_made_text")
            yield {"type": "text", "text": ORPHAN}
            yield from (part for part in content if part["type"] != "tool_reference")
        else:
            tally.drop("empty_orphan_result")


class _Ids:
    """Gives each call an id of its own: the source's where it is free."""

    def __init__(self, tally: Tally) -> None:
        self._taken: set[str] = set()
        self._numbers: Counter[str] = Counter()
        self._tally = tally

    def unique(self, source: str) -> str:
        """The id, with a number behind it where another call has it."""
        name = source
        if name in self._taken:
            self._tally.repair("tool_use_id_made_unique")
        while name in self._taken:
            self._numbers[source] += 1
            name = f"{source}_{self._numbers[source] + 1}"
        self._taken.add(name)
        return name


def _with_results(turns: list[Turn], results: dict[str, Block], tally: Tally) -> Iterator[Turn]:
    """Each turn with calls is followed by one user message that starts with all their results."""
    waiting: Turn | None = None
    for turn in turns:
        if waiting is not None and turn.role == "user" and turn.compacted == waiting.compacted:
            turn.blocks = waiting.blocks + turn.blocks
            waiting = None
        if waiting is not None:
            yield waiting
            waiting = None
        yield turn
        if turn.role == "assistant":
            waiting = _results_of(turn, results, tally)
    if waiting is not None:
        yield waiting


def _results_of(turn: Turn, results: dict[str, Block], tally: Tally) -> Turn | None:
    calls = [block for block in turn.blocks if block["type"] == "tool_use"]
    found = [_result(call, results, tally) for call in calls]
    media = [part for result in found for part in _media_of_errors(result, tally)]
    blocks = found + media
    return Turn(role="user", blocks=blocks, compacted=turn.compacted) if blocks else None


def _result(call: Block, results: dict[str, Block], tally: Tally) -> Block:
    result = results.pop(call["id"], None)
    if result is None:
        tally.repair("missing_result_added")
        result = {
            "type": "tool_result",
            "tool_use_id": call["id"],
            "content": MISSING_RESULT,
            "is_error": True,
        }
    if "toolset_name" in call:
        result["toolset_name"] = call["toolset_name"]
    return result


def _media_of_errors(result: Block, tally: Tally) -> list[Block]:
    """Take out of a failed call's result what is not text: it may stand behind, not inside."""
    content = result.get("content")
    if not result.get("is_error") or not isinstance(content, list):
        return []
    media = [part for part in content if part["type"] != "text"]
    if media:
        tally.repair("media_moved_out_of_error")
        result["content"] = [part for part in content if part["type"] == "text"]
    return [part for part in media if part["type"] in ("image", "document", "search_result")]


def _settle_server_tools(turns: list[Turn], tally: Tally) -> None:
    """Calls that the provider runs stand with their result in one turn; only the very last
    turn may end with one that still runs. Both halves of any other pair are dropped.
    """
    used = {block["id"] for turn in turns for block in turn.blocks if block["type"] == "tool_use"}
    for turn in turns:
        running: dict[str, Block] = {}
        answered: list[Block] = []
        for block in turn.blocks:
            if _is_server_call(block) and block["id"] not in used:
                used.add(block["id"])
                running[block["id"]] = block
            elif _is_server_result(block) and block["tool_use_id"] in running:
                answered += [running.pop(block["tool_use_id"]), block]
        kept = {id(block) for block in answered}
        if turn is turns[-1]:
            kept |= {id(block) for block in running.values()}
        whole = [b for b in turn.blocks if id(b) in kept or not _is_servers(b)]
        tally.drop("half_of_a_server_call", len(turn.blocks) - len(whole))
        turn.blocks = whole


def _is_servers(block: Block) -> bool:
    return _is_server_call(block) or _is_server_result(block)


def _is_server_call(block: Block) -> bool:
    return CALLS.get(block["type"]) == SERVER


def _is_server_result(block: Block) -> bool:
    return RESULTS.get(block["type"]) == SERVER


def _drop_last_thinking(turn: Turn, tally: Tally) -> None:
    """No assistant message ends in thinking: an answer that was cut off there is not one."""
    while turn.blocks and turn.blocks[-1]["type"] in THINKING:
        turn.blocks.pop()
        tally.drop("thinking_without_answer")


def _join(turns: list[Turn], tally: Tally, role: str | None = None) -> list[Turn]:
    """Neighbours of one role (or of `role` alone) as one turn."""
    joined: list[Turn] = []
    for turn in turns:
        before = joined[-1] if joined else None
        if before is None or role not in (None, turn.role) or not _belong_together(before, turn):
            joined.append(turn)
            continue
        tally.repair("neighbours_joined", int(bool(turn.blocks and before.blocks)))
        before.blocks += turn.blocks
        before.usage += turn.usage
    return joined


def _belong_together(before: Turn, turn: Turn) -> bool:
    return before.role == turn.role and before.compacted == turn.compacted


def _placed_system(turns: list[Turn], tally: Tally) -> list[Turn]:
    """System messages stand behind a user's, and last or before an assistant's; others are text."""
    for index, turn in enumerate(turns):
        if turn.role != "system":
            continue
        before = turns[index - 1].role if index else None
        after = turns[index + 1].role if index + 1 < len(turns) else "assistant"
        if before != "user" or after != "assistant":
            tally.repair("system_message_made_user_text")
            turn.role = "user"
            turn.blocks = [block for block in turn.blocks if block["type"] == "text"]
    return [turn for turn in turns if turn.blocks]


def _parts(result: Block) -> list[Block]:
    content = result.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content.strip() else []
    return content or []
