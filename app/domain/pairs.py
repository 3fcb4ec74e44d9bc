"""Tool pairs: which messages have to leave a request together.

A call and its result stand in different messages, several calls may share one, and results may
be spread over several. A message that goes takes along every message that a call connects it to,
and those take along theirs: whole groups leave, however the rows are cut.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec

from app.domain.messages import MessageRef


class Partner(msgspec.Struct, frozen=True):
    """A message that has to go, the one that it goes with, and the call that connects them."""

    part: str
    goes_with: str
    call: str  # the tool_use id
    replacement_lost: bool = False  # the set had a text for it, which goes with it


def partners(messages: Iterable[MessageRef], excluded: Collection[str]) -> list[Partner]:
    """What has to leave beside `excluded`, in the order in which it was reached.

    Linear in the messages. Parts that are no message here connect to nothing. A fixed point:
    asked again with its own answer added, it answers with nothing.
    """
    if not excluded:
        return []
    ids_of, parts_of = _connections(messages)
    gone = dict.fromkeys(part for part in excluded if part in ids_of)
    waiting = list(gone)
    added: list[Partner] = []
    while waiting:
        part = waiting.pop(0)
        for call in ids_of[part]:
            for other in parts_of.pop(call, ()):
                if other not in gone:
                    gone[other] = None
                    waiting.append(other)
                    added.append(Partner(other, part, call))
    return added


def _connections(
    messages: Iterable[MessageRef],
) -> tuple[Mapping[str, list[str]], dict[str, list[str]]]:
    """The calls that each message holds an end of, and the messages at the ends of each call."""
    ids_of: dict[str, list[str]] = {}
    parts_of: dict[str, list[str]] = {}
    for message in messages:
        if not (message.tool_use_ids or message.tool_result_ids):
            continue
        part = message.part
        ids_of[part] = [*message.tool_use_ids.split(), *message.tool_result_ids.split()]
        for call in ids_of[part]:
            parts_of.setdefault(call, []).append(part)
    return ids_of, parts_of
