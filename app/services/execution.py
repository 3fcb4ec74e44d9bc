"""Carries a run out: claim, then call and settle turn by turn, until one ending is written.

Nothing is open during a call or a tool. What a worker leaves undone when it dies is settled by
the sweep: see `app.services.runs.sweep`.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar
from uuid import UUID

import msgspec
import structlog

from app.chain.skills_in_use import in_use_after
from app.chain.stack import Workbench
from app.domain.jsontext import loads
from app.domain.messages import Block, NewMessage, prepare
from app.domain.runs import CANCELLED, DEADLINE, Claimed, Ending, Loaded, Status
from app.domain.tools import ToolCall, ToolOutcome
from app.domain.usage import EndedCall
from app.engine import answers, tool_calls
from app.engine.answers import Answer
from app.engine.leases import Lease
from app.errors import DatabaseUnavailable, Failure, NotFound, RunLost, Unavailable
from app.provider.base import Event
from app.provider.failures import Cancelled, DeadlinePassed, ProviderFailure, ThinkingRefused
from app.runtime import Runtime
from app.services import calls, frozen, thinking
from app.services.calls import Call
from app.services.workspace import SessionWorkspace
from app.store.transaction import Transaction
from app.telemetry import logs

T = TypeVar("T")

log = structlog.get_logger(__name__)

CANCEL_IS_ASKED_EVERY = 0.5  # seconds
WRITE_AGAIN_AFTER = 0.5
MAX_TURNS = "max_turns"


def execute(runtime: Runtime, run_id: UUID) -> None:
    """Carry a queued run out. Safe to deliver twice: who comes second finds nothing to claim."""
    with runtime.database.system() as system:
        claimed = system.runs.claim(
            run_id,
            worker=f"{socket.gethostname()}:{os.getpid()}",
            lease=runtime.settings.run_lease,
            timeout=runtime.settings.run_timeout,
        )
    if claimed is None:
        return
    with runtime.leases.keeping(claimed.held) as lease:
        _Execution(runtime, claimed, lease).carry_out()


class _Execution:
    """One worker's work on one run."""

    def __init__(self, runtime: Runtime, claimed: Claimed, lease: Lease) -> None:
        self._runtime = runtime
        self._claimed = claimed
        self._lease = lease
        self._run = claimed.run
        self._turns = claimed.run.turns
        self._deadline = time.monotonic() + claimed.seconds_left
        self._asked_at = 0.0
        self._may_retry_bare = True

    def carry_out(self) -> None:
        """Go on until the run has ended, and see that its ending is written, once."""
        try:
            ending = self._all_turns()
            if ending is not None:
                self._end(ending)
        except (RunLost, NotFound):
            # Another worker or the sweep has settled it, or its session was deleted.
            log.warning("run_abandoned", run=str(self._run.id))

    def _all_turns(self) -> Ending | None:
        """Turn by turn; None when the last one has written the ending with it."""
        try:
            loaded = self._loaded()
            workbench = self._workbench(loaded)
            while (ending := self._limit()) is None:
                ending = self._turn(loaded, workbench)
                if ending is not None:
                    return None
            return ending
        except ProviderFailure as failure:
            return _of_provider(failure)
        except (RunLost, NotFound):
            raise
        except Failure as failure:
            log.warning("run_failed", code=failure.code, where=logs.where(failure))
            detail = failure.detail or failure.title
            return Ending(
                Status.FAILED, None, failure.code, detail, isinstance(failure, Unavailable)
            )
        except Exception as error:  # noqa: BLE001 - the finalizer: every path ends the run
            log.error("run_failed", kind=type(error).__name__, where=logs.where(error))
            return Ending(Status.FAILED, None, "internal", "hango has a fault here.", False)

    def _limit(self) -> Ending | None:
        """Why there is no further turn, where there is none."""
        if self._lease.lost:
            raise RunLost
        if self._is_cancelled():
            return CANCELLED
        if time.monotonic() >= self._deadline:
            return DEADLINE
        most = self._run.max_turns or self._runtime.settings.max_turns
        return Ending(Status.SUCCEEDED, MAX_TURNS) if self._turns >= most else None

    def _loaded(self) -> Loaded:
        """What the run goes by: read now, or as an earlier worker has read it."""
        if self._claimed.loaded is not None:
            return msgspec.convert(self._claimed.loaded, Loaded)
        with self._transaction() as tx:
            tx.runs.hold(self._claimed.held)
            loaded = frozen.load(tx, tx.sessions.get(self._run.session_id))
            tx.runs.keep_loaded(self._claimed.held, msgspec.to_builtins(loaded))
        return loaded

    def _workbench(self, loaded: Loaded) -> Workbench:
        """What the tools of this run work on, and which skills it has in use by now."""
        with self._runtime.database.reading(self._claimed.principal) as tx:
            session = tx.sessions.get(self._run.session_id)
            written = tx.messages.contents(session.id, self._run.seqs) if self._turns else {}
        workspace = SessionWorkspace(self._runtime.database, self._claimed.principal, session)
        own = [loads(written[seq]) for seq in sorted(written)]
        return Workbench(workspace, skills_in_use=in_use_after(own, loaded.skills))

    def _turn(self, loaded: Loaded, workbench: Workbench) -> Ending | None:
        """One model call with the tools that it asks for; the ending, if the run has ended."""
        with self._runtime.database.reading(self._claimed.principal) as tx:
            call = calls.ready(tx, self._run.session_id, loaded, workbench)
        with self._transaction() as tx:
            tx.runs.hold(self._claimed.held)
            calls.note_begin(self._runtime, tx, self._claimed, call)
        started = time.monotonic()
        try:
            response = self._runtime.provider.complete(
                call.body,
                deadline=min(
                    self._deadline, started + self._runtime.settings.call_timeout.total_seconds()
                ),
                on_event=self._on_event,
                cancelled=self._is_cancelled,
            )
        except ProviderFailure as failure:
            self._failed(call, failure, started)
            return None
        answer = answers.read(response)
        ended = calls.answered(self._runtime, call, response, started)
        if not answer.calls:
            return self._persist(call, answer, answer.refused, ended)
        # What was paid is on record before the tools begin, however long they take.
        self._surely(lambda tx: calls.note_end(self._runtime, tx, call, ended))
        return self._persist(call, answer, self._results(call, answer), None)

    def _failed(self, call: Call, failure: ProviderFailure, started: float) -> None:
        """Note what the call came to. Goes on where thinking alone was refused, once.

        Raises:
            ProviderFailure: the run ends with it.
        """
        again = isinstance(failure, ThinkingRefused) and self._may_retry_bare
        ended = calls.failed(self._runtime, call, failure, started)

        def write(tx: Transaction) -> None:
            calls.note_end(self._runtime, tx, call, ended)
            if again:
                thinking.retire_all(tx, call.assembled)

        self._surely(write)
        if not again:
            raise failure
        self._may_retry_bare = False
        log.warning("thinking_refused", run=str(self._run.id))

    def _results(self, call: Call, answer: Answer) -> list[Block]:
        results = tool_calls.carry_out(
            answer.calls,
            call.assembled.request.tools,
            deadline=self._deadline,
            cancelled=self._is_cancelled,
            on_call=self._on_tool,
        )
        return [*results, *answer.refused]

    def _persist(
        self, call: Call, answer: Answer, results: Sequence[Block], ended: EndedCall | None
    ) -> Ending | None:
        """The turn in one transaction, and the run's ending with it where this was the last."""
        self._turns += 1
        ending = self._limit() if answer.goes_on else Ending(Status.SUCCEEDED, answer.stop_reason)
        new = self._messages(call, answer, results)

        def write(tx: Transaction) -> list[int]:
            session = tx.sessions.lock(self._run.session_id)
            tx.runs.hold(self._claimed.held, turns=self._turns - 1)
            if ended is not None:
                calls.note_end(self._runtime, tx, call, ended)
            stored = tx.messages.append(session, new)
            thinking.note_sent(tx, call.assembled, list(zip(new, stored, strict=True)))
            seqs = [each.seq for each in stored]
            tx.runs.end_turn(self._claimed.held, seqs)
            if ending is not None:
                tx.runs.end(self._claimed.held, ending)
            return seqs

        seqs = self._surely(write)
        self._tell("turn.finished", {"turn": self._turns, "messages": seqs})
        if ending is not None:
            self._runtime.events.ended(self._run.id, ending.status)
        return ending

    def _messages(self, call: Call, answer: Answer, results: Sequence[Block]) -> list[NewMessage]:
        estimator = call.assembled.estimator
        new = []
        if answer.blocks:
            new.append(prepare("assistant", answer.blocks, estimator))
        if results:
            names = {each["id"]: each["name"] for each in answer.blocks if "name" in each}
            new.append(prepare("user", results, estimator, names))
        return new

    def _end(self, ending: Ending) -> None:
        """Write an ending that no turn has brought."""

        def write(tx: Transaction) -> None:
            tx.runs.hold(self._claimed.held)
            tx.runs.end(self._claimed.held, ending)

        self._surely(write)
        self._runtime.events.ended(self._run.id, ending.status)

    def _surely(self, write: Callable[[Transaction], T]) -> T:
        """Write what was paid for, also when the database is away for a while.

        Raises:
            DatabaseUnavailable: it is away for longer than the claim is good. The sweep settles
                the run.
        """
        give_up = time.monotonic() + self._runtime.settings.run_lease.total_seconds()
        while True:
            try:
                with self._transaction() as tx:
                    return write(tx)
            except DatabaseUnavailable:
                if self._lease.lost or time.monotonic() >= give_up:
                    raise
                time.sleep(WRITE_AGAIN_AFTER)

    def _is_cancelled(self) -> bool:
        """Whether to stop. Asked again and again, so Redis is asked only now and then."""
        lease = self._lease
        now = time.monotonic()
        if not lease.cancelled and now - self._asked_at >= CANCEL_IS_ASKED_EVERY:
            self._asked_at = now
            lease.cancelled = self._runtime.events.is_asked_to_cancel(self._run.id)
        return lease.cancelled or lease.lost

    def _on_event(self, event: Event) -> None:
        if event["type"] == "content_block_delta":
            self._tell("message.delta", {"turn": self._turns + 1, "delta": event["delta"]})

    def _on_tool(self, call: ToolCall, outcome: ToolOutcome | None) -> None:
        about = {"id": call.id, "name": call.name}
        if outcome is None:
            self._tell("tool.started", about)
        else:
            self._tell("tool.finished", about | {"is_error": outcome.is_error})

    def _tell(self, kind: str, data: Mapping[str, object]) -> None:
        self._runtime.events.tell(self._run.id, kind, data)

    def _transaction(self) -> AbstractContextManager[Transaction]:
        return self._runtime.database.transaction(self._claimed.principal)


def _of_provider(failure: ProviderFailure) -> Ending:
    """How a run ends whose model call failed."""
    if isinstance(failure, Cancelled):
        return CANCELLED
    status = Status.TIMED_OUT if isinstance(failure, DeadlinePassed) else Status.FAILED
    detail = failure.detail or failure.title
    return Ending(status, None, failure.code, detail, failure.transient)
