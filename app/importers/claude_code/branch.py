"""Which records of a chain are the conversation: from its last message up to its start.

Rewinding, resuming and forking leave other branches in the file; the one that ends last is what
the next call would continue.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from app.importers.claude_code.records import Record


@dataclass(frozen=True, slots=True)
class Branch:
    """The records of the conversation in order, and what was left beside it."""

    records: list[Record]
    others: int  # branches not taken
    left_out: int  # messages on them


def choose(chain: Sequence[Record]) -> Branch:
    """The branch of the last message of `chain`, with parallel calls and their results complete."""
    by_uuid = {record.uuid: record for record in chain if record.uuid}
    if not any(record.parent in by_uuid for record in chain):
        return Branch(list(chain), 0, 0)  # nothing refers to anything: the file's order is all
    path = _path(chain, by_uuid)
    taken = _with_unlinked(chain, _completed(chain, path))
    inside = {record.index for record in taken}
    outside = [r for r in chain if r.says_something and r.index not in inside]
    heads = [r for r in outside if r.parent is None or _index(by_uuid, r.parent) in inside]
    return Branch(taken, len(heads), len(outside))


def _path(chain: Sequence[Record], by_uuid: dict[str, Record]) -> list[Record]:
    """From the last message along parents to the start, oldest first."""
    place = {record.index: at for at, record in enumerate(chain)}
    at: Record | None = next((r for r in reversed(chain) if r.says_something and r.uuid), None)
    path: list[Record] = []
    seen: set[int] = set()
    while at is not None and at.index not in seen:
        seen.add(at.index)
        path.append(at)
        at = _before(at, chain, place, by_uuid)
    path.reverse()
    return path


def _before(
    record: Record, chain: Sequence[Record], place: dict[int, int], by_uuid: dict[str, Record]
) -> Record | None:
    parent = record.parent
    if parent is None and record.is_boundary:
        logical = record.raw.get("logicalParentUuid")
        parent = logical if isinstance(logical, str) else "the record before"
    if parent is None:
        return None
    if parent in by_uuid:
        return by_uuid[parent]
    at = place[record.index]  # the parent is in no file that we have: what stands before it
    return chain[at - 1] if at else None


def _completed(chain: Sequence[Record], path: list[Record]) -> list[Record]:
    """Add the pieces of parallel calls that hang beside the path, and all results of its calls."""
    order: dict[int, tuple[int, int, int]] = {}
    anchor: dict[str, int] = {}  # message id → where on the path it stands
    for position, record in enumerate(path):
        order[record.index] = (position, 0, 0)
        message_id = record.message.get("id")
        if record.type == "assistant" and isinstance(message_id, str):
            anchor.setdefault(message_id, position)
    calls: dict[str, int] = {}
    for record in chain:
        place = _place_of_answer(record, order, anchor)
        if place is not None:
            order.setdefault(record.index, (place, 1, record.index))
            calls |= {_id(call.get("id")): place for call in record.blocks_of("tool_use")}
    for record in chain:
        if record.type == "user" and record.index not in order:
            asked = [_id(r.get("tool_use_id")) for r in record.blocks_of("tool_result")]
            if asked and asked[0] in calls:
                order[record.index] = (calls[asked[0]], 2, record.index)
    taken = [record for record in chain if record.index in order]
    return sorted(taken, key=lambda record: order[record.index])


def _place_of_answer(
    record: Record, order: dict[int, tuple[int, int, int]], anchor: dict[str, int]
) -> int | None:
    if record.type != "assistant":
        return None
    if record.index in order:
        return order[record.index][0]
    message_id = record.message.get("id")
    return anchor.get(message_id) if isinstance(message_id, str) else None


def _with_unlinked(chain: Sequence[Record], taken: list[Record]) -> list[Record]:
    """Messages without a uuid, which no link can reach, at their place in the file."""
    loose = [record for record in chain if record.says_something and record.uuid is None]
    if not loose:
        return taken
    merged: list[Record] = []
    waiting = deque(loose)
    for record in taken:
        while waiting and waiting[0].index < record.index:
            merged.append(waiting.popleft())
        merged.append(record)
    return [*merged, *waiting]


def _index(by_uuid: dict[str, Record], uuid: str) -> int:
    record = by_uuid.get(uuid)
    return record.index if record else -1


def _id(value: object) -> str:
    return value if isinstance(value, str) else ""
