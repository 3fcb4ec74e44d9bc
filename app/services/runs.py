"""Runs: begun by a user's message, followed, cancelled. What a worker does: see execution.py."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from app.domain.audit import Action
from app.domain.ids import new_id
from app.domain.jobs import Job
from app.domain.messages import Block, NewMessage, prepare
from app.domain.runs import Run
from app.domain.sessions import Session
from app.domain.usage import CallDiff, CallRecord, RunUsage, SentPart, difference
from app.domain.validity import check_appended, check_blocks
from app.domain.work import Status
from app.errors import HistoryRefused, RunOpen
from app.runtime import Runtime
from app.services import quota, work
from app.store.transaction import Transaction
from app.tokens.estimator import estimator_for


@dataclass(frozen=True, slots=True)
class Shown:
    """A run as clients read it."""

    run: Run
    used: RunUsage

    @property
    def id(self) -> UUID:
        """The run's."""
        return self.run.id

    @property
    def status(self) -> Status:
        """Where it stands."""
        return self.run.status

    @property
    def error(self) -> dict[str, Any] | None:
        """Why it failed."""
        run = self.run
        if run.error_code is None:
            return None
        return {
            "code": run.error_code,
            "detail": run.error_detail,
            "retryable": run.error_retryable,
        }


def begin(
    tx: Transaction,
    session_id: UUID,
    message: str | Sequence[Block],
    max_turns: int | None,
    *,
    now: datetime,
) -> Shown:
    """Store the user's message and a queued run that answers it.

    The session stays locked meanwhile, so that it never has two runs that have not ended.

    Raises:
        NotFound: the session is not the principal's to see.
        RunOpen: it has a run that has not ended.
        QuotaExceeded: nothing is left that a call could use.
        HistoryRefused: with the message, no request could ever be sent.
    """
    session = tx.sessions.lock(session_id)
    if (other := tx.runs.open_of(session_id)) is not None:
        raise RunOpen(
            f"Wait for run {other.id}, or cancel it.", headers={"Location": f"/v1/runs/{other.id}"}
        )
    quota.check(tx, now=now)
    (stored,) = tx.messages.append(session.id, [_checked(tx, session, message)])
    run = tx.runs.add(new_id(), session_id, session.agent_id, max_turns, stored.seq)
    tx.audit.add(Action.RUN_START, "session", session_id, {"run": str(run.id)})
    tx.enqueue(Job.EXECUTE_RUN, str(run.id))
    return Shown(run, RunUsage())


def get(tx: Transaction, run_id: UUID) -> Shown:
    """Raises NotFound."""
    return shown(tx, [tx.runs.get(run_id)])[0]


def among(tx: Transaction, ids: Collection[UUID]) -> dict[UUID, Shown]:
    """Those of these runs that are there."""
    return {each.id: each for each in shown(tx, tx.runs.among(ids))}


def shown(tx: Transaction, found: Sequence[Run]) -> list[Shown]:
    """The runs with what they have used so far."""
    totals = tx.usage.totals([run.id for run in found])
    return [Shown(run, totals.get(run.id, RunUsage())) for run in found]


def cancel(tx: Transaction, run_id: UUID) -> Shown:
    """End a queued run, ask a running one to end, and leave one that has ended.

    Raises:
        NotFound: the run is not the principal's to see.
    """
    if tx.runs.get(run_id).can_be_cancelled:
        tx.audit.add(Action.RUN_CANCEL, "run", run_id, {})
    return shown(tx, [tx.runs.cancel(run_id)])[0]


def calls(tx: Transaction, run_id: UUID) -> list[CallRecord]:
    """The run's model calls, in their order. Raises NotFound."""
    tx.runs.get(run_id)
    return tx.usage.calls(run_id)


def call(tx: Transaction, run_id: UUID, number: int) -> tuple[CallRecord, list[SentPart]]:
    """One of them, and what it was sent. Raises NotFound."""
    tx.runs.get(run_id)
    return tx.usage.call(run_id, number)


def diff(tx: Transaction, run_id: UUID, before: int, after: int) -> CallDiff:
    """What call `after` was sent differently from call `before`. Raises NotFound."""
    return difference(call(tx, run_id, before), call(tx, run_id, after))


def sweep(runtime: Runtime) -> None:
    """Settle what dead workers have left, and nudge what no worker has been told of."""
    work.sweep(runtime, Job.EXECUTE_RUN, lambda system: system.runs)


def _checked(tx: Transaction, session: Session, message: str | Sequence[Block]) -> NewMessage:
    """The message, ready to be stored.

    Calls that an earlier run left open are no obstacle: the chain answers them in each request.
    """
    if faults := list(check_blocks("user", message, "message")):
        raise HistoryRefused(faults=faults)
    new = prepare("user", message, estimator_for(tx.agents.used_by(session).model))
    faults = check_appended(tx.messages.tail(session.id), (), [new], at="message")
    if faults := [each for each in faults if each.code != "tool_use_unanswered"]:
        raise HistoryRefused(faults=faults)
    return new
