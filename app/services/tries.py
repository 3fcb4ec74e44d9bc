"""Tries: accepted, read, cancelled, purged. What a worker does: see try_execution.py."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog

from app.domain.audit import Action
from app.domain.completion import (
    AGENT_KINDS,
    SESSION_KINDS,
    Completed,
    complete,
    entry_faults,
    history_faults,
)
from app.domain.ids import new_id
from app.domain.jobs import Job
from app.domain.messages import MessageRef
from app.domain.overrides import Override
from app.domain.pages import Page
from app.domain.sessions import Session
from app.domain.text import clean
from app.domain.tries import Plan, SentSnapshot, Try
from app.domain.usage import CallRecord
from app.domain.validity import check_blocks
from app.domain.work import Loaded, Status
from app.errors import Fault, HistoryRefused, NothingToSend, OverridesRefused
from app.runtime import Runtime
from app.services import calls, context, frozen, overrides, quota, work
from app.services.context import Assembled
from app.store.transaction import Transaction
from app.tokens.estimator import estimator_for

log = structlog.get_logger(__name__)

PURGE_BATCH = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a client asks for: what to change in the next request, for this once."""

    exclude: Sequence[str] = ()
    replace: Mapping[str, str]
    message: str | None = None

    @property
    def overrides(self) -> list[Override]:
        """As the chain takes them."""
        excluded = [Override(part, "exclude") for part in self.exclude]
        return [*excluded, *(Override(p, "replace", clean(t)) for p, t in self.replace.items())]

    @property
    def places(self) -> list[str]:
        """Where in the body each of them stands."""
        excluded = [f"exclude[{index}]" for index in range(len(self.exclude))]
        return [*excluded, *(f"replace[{index}]" for index in range(len(self.replace)))]


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
        return self.call if self.call and self.call.input_tokens is not None else None

    @property
    def cost(self) -> CallRecord | None:
        """What that costs, where a price is known."""
        return self.call if self.call and self.call.cost_micro_dollars is not None else None

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
        QuotaExceeded: the call could use more than is left.
    """
    session = tx.sessions.get(session_id)
    plan, assembled = planned(tx, session, wanted)
    quota.check(tx, now=runtime.now(), most=calls.most(runtime, assembled))
    expires_at = runtime.now() + runtime.settings.try_retention
    trial = tx.tries.add(new_id(), session_id, plan, expires_at)
    detail = {"try": str(trial.id), "excluded": plan.excluded, "model": trial.model}
    tx.audit.add(Action.CONTEXT_TRY, "session", session_id, detail)
    tx.enqueue(Job.EXECUTE_TRY, str(trial.id))
    return Shown(trial, None)


def planned(tx: Transaction, session: Session, wanted: Wanted) -> tuple[Plan, Assembled]:
    """Decide what is going to be sent.

    Raises:
        OverridesRefused, HistoryRefused, NothingToSend
    """
    if wanted.message is not None and (
        faults := list(check_blocks("user", wanted.message, "message"))
    ):
        raise HistoryRefused(faults=faults)
    saved = frozen.load(tx, session)
    completed = _completed(tx, session, saved, wanted)
    loaded = Loaded(
        agent=saved.agent,
        memory=saved.memory,
        skills=saved.skills,
        overrides=completed.overrides,
        last_seq=session.last_seq,
        message=wanted.message,
    )
    assembled = context.assemble(tx, session.id, loaded=loaded)
    if not assembled.request.messages:
        raise NothingToSend("Give a `message`, or leave one of the session's in.")
    shown = SentSnapshot.of(context.described(assembled))
    return Plan(loaded=loaded, added=completed.added, snapshot=shown), assembled


def get(tx: Transaction, try_id: UUID) -> Shown:
    """Raises NotFound, and Gone for one that was purged."""
    return _shown(tx, [tx.tries.get(try_id)])[0]


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
    return _shown(tx, [tx.tries.cancel(try_id)])[0]


def sweep(runtime: Runtime) -> None:
    """Settle what dead workers have left, and nudge what no worker has been told of."""
    work.sweep(runtime, Job.EXECUTE_TRY, lambda system: system.tries)


def purge(runtime: Runtime) -> None:
    """Throw away the tries whose time is over, with all that they hold."""
    purged, more = 0, True
    while more:
        with runtime.database.system() as system:
            gone = system.tries.purge(PURGE_BATCH)
        purged, more = purged + gone, gone == PURGE_BATCH
    log.info("tries_purged", rows=purged)


def _shown(tx: Transaction, trials: Sequence[Try]) -> list[Shown]:
    made = tx.usage.of_tries([each.id for each in trials])
    return [Shown(each, made.get(each.id)) for each in trials]


def _completed(tx: Transaction, session: Session, saved: Loaded, wanted: Wanted) -> Completed:
    """The saved overrides and the try's own, which win, with the pair partners that they need.

    Raises:
        OverridesRefused: with a code for each entry that is wrong.
    """
    own, places = wanted.overrides, wanted.places
    _refuse(entry_faults(own, (*AGENT_KINDS, *SESSION_KINDS), places))
    messages = overrides.messages_of(tx, session.id)
    _refuse(overrides.ambiguous(own, messages, places))
    named = {each.part for each in own}
    kept = [each for each in _in_force(saved, messages) if each.part not in named]
    if wanted.message is not None:
        estimator = estimator_for(saved.agent.model)
        messages = [*messages, frozen.extra_message(wanted.message, estimator)]
    completed = complete([*kept, *own], messages)
    _refuse(history_faults(completed, messages, "exclude"))
    return completed


def _in_force(saved: Loaded, messages: Sequence[MessageRef]) -> list[Override]:
    """The saved overrides that the next call goes by.

    A session's set that later messages have made invalid is suspended as a whole, there as here.
    """
    of_agent = [e for e in saved.overrides if e.part.partition(":")[0] in AGENT_KINDS]
    of_session = [e for e in saved.overrides if e not in of_agent]
    if history_faults(Completed(tuple(of_session), ()), messages):
        return of_agent
    return [*of_agent, *of_session]


def _refuse(faults: Iterable[Fault]) -> None:
    if found := list(faults):
        raise OverridesRefused("Nothing was called.", faults=found)
