"""Tries: accepted, read, cancelled, purged. What a worker does: see try_execution.py."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog

from app.domain.audit import Action
from app.domain.ids import new_id
from app.domain.jobs import Job
from app.domain.pages import Page
from app.domain.quota import Amount
from app.domain.tries import Plan, Try
from app.domain.usage import CallRecord
from app.domain.work import Status
from app.runtime import Runtime
from app.services import calls, quota, try_diffs, work
from app.services.try_diffs import REQUEST, Baseline
from app.services.try_plans import Planning, Wanted
from app.store.transaction import Transaction

log = structlog.get_logger(__name__)

PURGE_BATCH = 1000


@dataclass(frozen=True, slots=True)
class Shown:
    """A try as clients read it."""

    trial: Try
    call: CallRecord | None  # None: the model was not called, or not yet

    @property
    def id(self) -> UUID:
        """The try's."""
        return self.trial.id

    @property
    def status(self) -> Status:
        """Where it stands."""
        return self.trial.status

    @property
    def baseline(self) -> Baseline:
        """What it is compared with where nothing else is named."""
        return self.trial.baseline_id or REQUEST

    @property
    def replaced(self) -> list[str]:
        """The parts that another text stood in for."""
        return list(self.trial.replaced)

    @property
    def answer(self) -> dict[str, Any] | None:
        """The assistant's message."""
        content = self.trial.answer
        return None if content is None else {"role": "assistant", "content": content}

    @property
    def usage(self) -> CallRecord | None:
        """What the provider said that the call used."""
        return self.call if self.call and self.call.has_usage else None

    @property
    def cost(self) -> CallRecord | None:
        """What that costs, where a price is known."""
        return self.call if self.call and self.call.has_cost else None

    @property
    def error(self) -> dict[str, Any] | None:
        """Why there is no answer."""
        trial = self.trial
        if trial.error_code is None:
            return None
        return {
            "code": trial.error_code,
            "message": trial.error_detail,
            "retryable": trial.error_retryable,
        }


def begin(runtime: Runtime, tx: Transaction, session_id: UUID, wanted: Wanted) -> Shown:
    """Store a queued try of the session's next call, which is settled with it.

    Raises:
        NotFound: the session is not the principal's to see.
        OverridesRefused, HistoryRefused, NothingToSend: no such request could be sent.
        BadBaseline: it cannot be compared with that.
        QuotaExceeded: the call could use more than is left.
    """
    session = tx.sessions.get(session_id)
    if wanted.baseline is not None:
        try_diffs.check_baseline(tx, session_id, wanted.baseline)
    plan, assembled = Planning(tx, session).plan(wanted)
    return Shown(start(runtime, tx, session_id, plan, calls.most(runtime, assembled)), None)


def start(runtime: Runtime, tx: Transaction, session_id: UUID, plan: Plan, most: Amount) -> Try:
    """Queue a try that was planned; it can use `most`.

    Raises:
        QuotaExceeded: less than that is left.
    """
    quota.check(tx, now=runtime.now(), most=most)
    expires_at = runtime.now() + runtime.settings.try_retention
    trial = tx.tries.add(new_id(), session_id, plan, expires_at)
    detail = {"try": str(trial.id), "excluded": plan.excluded, "model": trial.model}
    if plan.ablation_id is not None:
        detail["ablation"] = str(plan.ablation_id)
    tx.audit.add(Action.CONTEXT_TRY, "session", session_id, detail)
    tx.enqueue(Job.EXECUTE_TRY, str(trial.id))
    return trial


def get(tx: Transaction, try_id: UUID) -> Shown:
    """Raises NotFound, and Gone for one that was purged."""
    return _shown(tx, [tx.tries.get(try_id)])[0]


def among(tx: Transaction, ids: Collection[UUID]) -> dict[UUID, Shown]:
    """Those of these tries that are there."""
    return {each.id: each for each in _shown(tx, tx.tries.among(ids))}


def page(tx: Transaction, session_id: UUID, after: UUID | None, limit: int) -> Page[Shown]:
    """The session's tries, newest first. Raises NotFound."""
    tx.sessions.get(session_id)
    found = tx.tries.page(session_id, after, limit)
    return Page(_shown(tx, found.items), found.next)


def cancel(tx: Transaction, try_id: UUID) -> Shown:
    """End a queued try, ask a running one to end, and leave one that has ended.

    Raises:
        NotFound: the try is not the principal's to see.
    """
    if tx.tries.get(try_id).can_be_cancelled:
        tx.audit.add(Action.CONTEXT_TRY_CANCEL, "try", try_id, {})
    cancelled = tx.tries.cancel(try_id)
    go_on(tx, cancelled)
    return _shown(tx, [cancelled])[0]


def go_on(tx: Transaction, trial: Try) -> None:
    """Have the ablation go on that a try was a part of, now that it has ended."""
    if trial.ablation_id is not None:
        tx.enqueue(Job.CARRY_ON_ABLATION, str(trial.ablation_id))


def sweep(runtime: Runtime) -> None:
    """Settle what dead workers have left, and nudge what no worker has been told of."""
    work.sweep(runtime, Job.EXECUTE_TRY, lambda system: system.tries)


def purge(runtime: Runtime) -> None:
    """Throw away the tries and ablations whose time is over, with all that they hold."""
    purged, more = 0, True
    while more:
        with runtime.database.system() as system:
            gone = (system.tries.purge(PURGE_BATCH), system.ablations.purge(PURGE_BATCH))
        purged, more = purged + sum(gone), PURGE_BATCH in gone
    log.info("tries_purged", rows=purged)


def _shown(tx: Transaction, trials: Sequence[Try]) -> list[Shown]:
    made = tx.usage.of_tries([each.id for each in trials])
    return [Shown(each, made.get(each.id)) for each in trials]
