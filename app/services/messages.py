"""Messages: appended when they leave a history that can be sent, counted when they are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from app.domain.blocks import tool_names
from app.domain.counts import NewCount
from app.domain.jobs import Job
from app.domain.jsontext import loads
from app.domain.messages import MessageRef, NewMessage, StoredMessage, prepare
from app.domain.ports import Estimator
from app.domain.sessions import Session
from app.domain.validity import check_appended, check_blocks
from app.errors import HistoryRefused
from app.runtime import Runtime
from app.services import thinking
from app.store.transaction import Transaction
from app.tokens.estimator import estimator_for

RECOUNT_BATCH = 200  # messages in one transaction


def append(
    tx: Transaction, session_id: UUID, given: Sequence[Mapping[str, Any]]
) -> list[StoredMessage]:
    """Store all of these messages at the session's end, or none.

    The session stays locked meanwhile, so that nobody appends between check and write.

    Raises:
        NotFound: the session is not the principal's to see.
        HistoryRefused: with them, no request could ever be sent; one fault for each reason.
    """
    session = tx.sessions.lock(session_id)
    _check_alone(given)
    estimator = estimator_for(tx.agents.used_by(session).model)
    tail = tx.messages.tail(session_id)
    names = _names_of_open_calls(tx, session_id, tail)
    new = _prepared(given, estimator, names)
    stored = add(tx, session, new, tail)
    thinking.note(tx, session_id, new, stored)
    return stored


def add(
    tx: Transaction, session: Session, new: Sequence[NewMessage], tail: Sequence[MessageRef]
) -> list[StoredMessage]:
    """Store prepared messages behind the end of a locked session.

    Raises:
        HistoryRefused: with them, no request could ever be sent.
    """
    calls = [call for each in new for call in each.tool_use_ids.split()]
    used = tx.messages.has_tool_ids(session.id, calls)
    if faults := check_appended(tail, used, new):
        raise HistoryRefused(faults=faults)
    return tx.messages.append(session.id, new)


def stored(tx: Transaction, session_id: UUID, first: int, last: int) -> list[StoredMessage]:
    """The messages with these numbers, as they were given when they were appended.

    Raises:
        NotFound: the session is gone.
    """
    page = tx.messages.page(session_id, first - 1, last - first + 1)
    return list(page.items)


def seqs_of(messages: Sequence[StoredMessage]) -> dict[str, int]:
    """The numbers by which `stored` finds them again."""
    return {"first": messages[0].seq, "last": messages[-1].seq}


def recount(runtime: Runtime, agent_id: UUID) -> None:
    """Count again what another estimator than that of the agent's model has counted.

    Batch by batch, each in its own transaction; safe to deliver twice and to stop at any time.
    """
    with runtime.database.system() as system:
        model = system.counts.models().get(agent_id)
    while model is not None and _recount_batch(runtime, agent_id, estimator_for(model)):
        pass


def sweep_counts(runtime: Runtime) -> None:
    """Queue a recount for every agent that needs one: its own may have been lost on the way."""
    with runtime.database.system() as system:
        for agent_id, model in system.counts.models().items():
            if system.counts.stale(agent_id, estimator_for(model).id, 1):
                system.enqueue(Job.RECOUNT_MESSAGES, str(agent_id))


def _recount_batch(runtime: Runtime, agent_id: UUID, estimator: Estimator) -> bool:
    with runtime.database.system() as system:
        cold = system.counts.stale(agent_id, estimator.id, RECOUNT_BATCH)
        counts = [
            NewCount(
                each.tenant_id,
                each.session_id,
                each.seq,
                estimator.message(each.role, loads(each.content)).tokens,
            )
            for each in cold
        ]
        system.counts.store(estimator.id, counts)
    return len(cold) == RECOUNT_BATCH


def _check_alone(given: Sequence[Mapping[str, Any]]) -> None:
    faults = [
        fault
        for index, message in enumerate(given)
        for fault in check_blocks(message["role"], message["content"], f"messages[{index}]")
    ]
    if faults:
        raise HistoryRefused(faults=faults)


def _prepared(
    given: Sequence[Mapping[str, Any]], estimator: Estimator, names: dict[str, str]
) -> list[NewMessage]:
    new = []
    for message in given:
        new.append(prepare(message["role"], message["content"], estimator, names))
        if isinstance(message["content"], list):
            names.update(tool_names(message["content"]))
    return new


def _names_of_open_calls(
    tx: Transaction, session_id: UUID, tail: Sequence[MessageRef]
) -> dict[str, str]:
    """The tools that the newest calls are for, so that previews of their results can say so."""
    calling = [ref.seq for ref in tail if ref.tool_use_ids]
    contents = tx.messages.contents(session_id, calling)
    return {
        call: name
        for content in contents.values()
        for call, name in tool_names(loads(content)).items()
    }
