"""Carries a try out: claim, check once more, one call with nothing open, one ending.

What a worker leaves undone when it dies is settled by the sweep: see `app.services.work.sweep`.
"""

from __future__ import annotations

import time
from typing import NamedTuple
from uuid import UUID

import msgspec
import structlog

from app.domain.jsontext import clean_dumps
from app.domain.responses import Response
from app.domain.tries import SentSnapshot, Try
from app.domain.usage import EndedCall
from app.domain.work import CANCELLED, DEADLINE, Claimed, Ending, Loaded, Status
from app.errors import NoLongerAllowed, WorkLost
from app.provider.failures import ProviderFailure
from app.runtime import Runtime
from app.services import calls, injections, tries, try_diffs
from app.services.calls import Call, MadeFor
from app.services.injections import Gathering
from app.services.work import LEFT, Watch, Writing, ending_of, tell_ended, worker_name
from app.store.transaction import Transaction
from app.telemetry import names, spans

log = structlog.get_logger(__name__)


def execute(runtime: Runtime, try_id: UUID) -> None:
    """Carry a queued try out. Safe to deliver twice: who comes second finds nothing to claim."""
    with runtime.database.system() as system:
        claimed = system.tries.claim(
            try_id,
            worker=worker_name(),
            lease=runtime.settings.run_lease,
            timeout=runtime.settings.context_try_timeout,
        )
    if claimed is None:
        return
    with runtime.leases.keeping(claimed.held) as lease:
        watch = Watch(runtime.events, claimed.held, lease)
        # SERVER, so that tools which list requests list tries beside them.
        with spans.begun(names.CONTEXT_TRY, "server", _span_attributes(claimed)):
            _Execution(runtime, claimed, watch).carry_out()


class _Result(NamedTuple):
    """What is written when a try ends."""

    ending: Ending
    answer: str | None = None  # compact JSON of the blocks
    made: tuple[Call, EndedCall] | None = None  # what its call came to, where that is not noted yet


class _Execution:
    """One worker's work on one try."""

    def __init__(self, runtime: Runtime, claimed: Claimed[Try], watch: Watch) -> None:
        self._runtime = runtime
        self._claimed = claimed
        self._watch = watch
        self._writing = Writing(runtime, claimed, watch)
        self._deadline = time.monotonic() + claimed.seconds_left

    def carry_out(self) -> None:
        """Make the call, and see that an ending is written, once."""
        try:
            result = self._result()
            if not self._writing.surely(lambda tx: self._end(tx, result)):
                raise WorkLost
        except LEFT:
            log.warning("try_left", id=str(self._claimed.work.id))
        else:
            tell_ended(self._runtime, names.TRIES, self._claimed.work.id, result.ending)

    def _result(self) -> _Result:
        try:
            return _Result(ending) if (ending := self._limit()) else self._called()
        except LEFT:
            raise
        except Exception as error:  # noqa: BLE001 - the finalizer: every path ends the try
            return _Result(ending_of(error))

    def _limit(self) -> Ending | None:
        """Why the model is not called, where it is not."""
        if self._watch.is_lost:
            raise WorkLost
        if self._watch.is_cancelled():
            return CANCELLED
        return DEADLINE if time.monotonic() >= self._deadline else None

    def _called(self) -> _Result:
        """The one call, whose cost is on record whatever comes of it.

        Raises:
            ProviderFailure: there is no answer.
            QuotaExceeded, NoLongerAllowed: the model was not called.
        """
        trial = self._claimed.work
        loaded = msgspec.convert(self._claimed.loaded, Loaded)
        made_for = MadeFor(
            purpose="context_try",
            agent_id=loaded.agent.id,
            session_id=trial.session_id,
            try_id=trial.id,
        )
        if not self._claimed.is_allowed:
            raise NoLongerAllowed("Start it again with another key.")
        with injections.gathered(
            self._runtime,
            self._claimed.principal,
            made_for,
            loaded,
            deadline=self._deadline,
            cancelled=self._watch.is_cancelled,
        ) as gathering:
            return self._answered(loaded, made_for, gathering)

    def _answered(self, loaded: Loaded, made_for: MadeFor, gathering: Gathering) -> _Result:
        call = self._begun(loaded, made_for, gathering)
        gathering.begun()
        started = time.monotonic()
        try:
            response, ended = calls.make(
                self._runtime,
                call,
                made_for,
                deadline=self._deadline,
                cancelled=self._watch.is_cancelled,
            )
        except ProviderFailure as failure:
            gathering.note(ended := calls.failed(self._runtime, call, failure, started))
            self._note_end(call, ended)
            raise
        gathering.note(ended)
        done = _Result(Ending(Status.SUCCEEDED, response.stop_reason), _answer(response))
        if not gathering.asked:
            return done._replace(made=(call, ended))
        # What was paid is on record before hooks are told, however long they take.
        self._note_end(call, ended)
        return done

    def _begun(self, loaded: Loaded, made_for: MadeFor, gathering: Gathering) -> Call:
        """The call, on record as begun: from now on nobody repeats it."""
        trial, held, injected = self._claimed.work, self._claimed.held, gathering.injected
        with self._runtime.database.reading(self._claimed.principal) as tx:
            call = calls.ready(tx, trial.session_id, loaded, injected=injected)
            against = try_diffs.against_plain(tx, trial.session_id, loaded, call, injected)
        with self._runtime.database.transaction(self._claimed.principal) as tx:
            sending = SentSnapshot.of(call.shown, call.assembled.request, against)
            tx.tries.begin_call(held, sending)
            calls.note_begin(self._runtime, tx, made_for, call)
        return call

    def _note_end(self, call: Call, ended: EndedCall) -> None:
        """Without the claim: what was paid for is on record also for a try that was given up."""
        self._writing.surely(lambda tx: calls.note_end(self._runtime, tx, call, ended))

    def _end(self, tx: Transaction, result: _Result) -> bool:
        """Whether the try was still this worker's to end; what was paid is on record anyway."""
        if result.made is not None:
            calls.note_end(self._runtime, tx, *result.made)
        try:
            tx.tries.end(self._claimed.held, result.ending, answer=result.answer)
        except WorkLost:
            return False
        tries.go_on(tx, self._claimed.work)
        return True


def _span_attributes(claimed: Claimed[Try]) -> spans.Attributes:
    return {
        names.TRY: True,
        names.TRY_ID: str(claimed.work.id),
        names.CONVERSATION: str(claimed.work.session_id),
        names.TENANT: str(claimed.principal.tenant_id),
    }


def _answer(response: Response) -> str:
    return clean_dumps(list(response.blocks))
