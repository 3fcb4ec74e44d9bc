"""Messages that the chain makes for one request, and that nothing persists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from app.domain.blocks import index_blocks, tool_names
from app.domain.jsontext import dumps, loads
from app.domain.messages import MadeMessage, MessageRef, message_sha256
from app.domain.ports import Estimator
from app.domain.previews import preview


def made_message(
    role: str, made: MadeMessage, estimator: Estimator, names: Mapping[str, str] | None = None
) -> MessageRef:
    """A message that is not a row: counted, previewed and hashed like every other.

    `names` tells the tool that each tool_use id called, where it has results of calls.
    """
    index = index_blocks(role, made.blocks)
    return MessageRef(
        seq=0,
        role=role,
        tokens=estimator.message(role, made.blocks).tokens,
        preview=preview(role, made.blocks, names or {}),
        sha256=message_sha256(role, dumps(made.blocks)),
        tool_use_ids=index.tool_use_ids,
        tool_result_ids=index.tool_result_ids,
        marks=index.marks,
        made=made,
    )


def calling(messages: Sequence[MessageRef], answers: Iterable[MessageRef]) -> list[MessageRef]:
    """Those of the messages whose calls these ones answer."""
    answered = {call for each in answers for call in each.tool_result_ids.split()}
    if not answered:
        return []
    return [each for each in messages if not answered.isdisjoint(each.tool_use_ids.split())]


def names_called(calls: Iterable[MessageRef], stored: Mapping[int, str]) -> dict[str, str]:
    """The tool that each tool_use id of these messages calls; `stored` has their contents."""
    names: dict[str, str] = {}
    for each in calls:
        names.update(tool_names(each.made.blocks if each.made else loads(stored[each.seq])))
    return names
