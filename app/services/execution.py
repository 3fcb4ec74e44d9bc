"""Carries a run out: claim, then call and settle turn by turn, until one ending is written.

Nothing is open during a call or a tool. What a worker leaves undone when it dies is settled by
the sweep: see `app.services.runs.sweep`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from uuid import UUID

import msgspec
import structlog

from app.chain.skills_in_use import in_use_after
from app.chain.stack import Workbench
from app.domain.jsontext import loads
from app.domain.messages import Block, NewMessage, prepare
from app.domain.responses import Response
from app.domain.runs import Run
from app.domain.tools import ToolCall, ToolOutcome
from app.domain.usage import EndedCall
from app.domain.work import CANCELLED, DEADLINE, Claimed, Ending, Loaded, Status
from app.engine import answers, tool_calls
from app.engine.answers import Answer
from app.errors import WorkLost
from app.provider.base import Event
from app.provider.failures import ProviderFailure, ThinkingRefused
from app.runtime import Runtime
from app.services import calls, frozen, injections, thinking
from app.services.calls import Call, MadeFor
from app.services.delegation import Helpers
from app.services.injections import Gathering
from app.services.outside_calls import OutsideCalls
from app.services.work import LEFT, Watch, Writing, ending_of, tell_ended, worker_name
from app.services.workspace import SessionWorkspace
from app.store.transaction import Transaction
from app.telemetry import names, spans

log = structlog.get_logger(__name__)

MAX_TURNS = "max_turns"


def execute(runtime: Runtime, run_id: UUID) -> None:
    """Carry a queued run out. Safe to deliver twice: who comes second finds nothing to claim."""
    with runtime.database.system() as system:
        claimed = system.runs.claim(
            run_id,
            worker=worker_name(),
            lease=runtime.settings.run_lease,
            timeout=runtime.settings.run_timeout,
        )
    if claimed is not None:
        _carry_out(runtime, claimed)


def _carry_out(runtime: Runtime, claimed: Claimed[Run], above: Watch | None = None) -> None:
    with runtime.leases.keeping(claimed.held) as lease:
        watch = Watch(runtime.events, claimed.held, lease, above)
        with spans.begun(names.RUN, attributes=_span_attributes(runtime, claimed)):
            _Execution(runtime, claimed, watch).carry_out()


class _Execution:
    """One worker's work on one run."""

    def __init__(self, runtime: Runtime, claimed: Claimed[Run], watch: Watch) -> None:
        self._runtime = runtime
        self._claimed = claimed
        self._watch = watch
        self._writing = Writing(runtime, claimed, watch)
        self._run = claimed.work
        self._turns = claimed.work.turns
        self._deadline = time.monotonic() + claimed.seconds_left
        self._may_retry_bare = True

    def carry_out(self) -> None:
        """Go on until the run has ended, and see that its ending is written, once."""
        try:
            ending = self._all_turns()
            if ending is not None:
                self._end(ending)
        except LEFT:
            log.warning("run_left", run=str(self._run.id))

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
        except LEFT:
            raise
        except Exception as error:  # noqa: BLE001 - the finalizer: every path ends the run
            return ending_of(error)

    def _limit(self) -> Ending | None:
        """Why there is no further turn, where there is none."""
        if self._watch.is_lost:
            raise WorkLost
        if self._watch.is_cancelled():
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
            loaded = frozen.load(tx, tx.sessions.get(self._run.session_id))
            tx.runs.keep_loaded(self._claimed.held, msgspec.to_builtins(loaded))
        return loaded

    def _workbench(self, loaded: Loaded) -> Workbench:
        """What the tools of this run work on, and which skills it has in use by now."""
        with self._runtime.database.reading(self._claimed.principal) as tx:
            session = tx.sessions.get(self._run.session_id)
            depth = tx.sessions.depth(session.id) if loaded.agent.subagents else 0
            written = tx.messages.contents(session.id, self._run.seqs) if self._turns else {}
        workspace = SessionWorkspace(self._runtime.database, self._claimed.principal, session)
        own = [loads(written[seq]) for seq in sorted(written)]
        helpers = Helpers(self._runtime, self._claimed, self._watch, session, depth, _carry_out)
        outside = OutsideCalls(
            self._runtime.database,
            self._claimed.principal,
            self._runtime.outside,
            self._watch.is_cancelled,
        )
        return Workbench(workspace, helpers, in_use_after(own, loaded.skills), outside)

    def _turn(self, loaded: Loaded, workbench: Workbench) -> Ending | None:
        """One model call with the tools that it asks for; the ending, if the run has ended."""
        made = self._made(loaded, workbench)
        if made is None:
            return None
        call, response, ended = made
        answer = answers.read(response)
        if answer.left_out:
            log.warning("thinking_left_out", run=str(self._run.id), blocks=answer.left_out)
        if not answer.calls:
            return self._persist(call, answer, answer.refused, ended)
        if ended is not None:
            # What was paid is on record before the tools begin, however long they take.
            noted = ended
            self._writing.surely(lambda tx: calls.note_end(self._runtime, tx, call, noted))
        return self._persist(call, answer, self._results(call, answer), None)

    def _made(
        self, loaded: Loaded, workbench: Workbench
    ) -> tuple[Call, Response, EndedCall | None] | None:
        """The call with its answer, and what of it is not on record yet.

        None where the run goes on without an answer.

        Raises:
            ProviderFailure: the run ends with it.
        """
        made_for = _made_for(self._run)
        gathered = injections.gathered(
            self._runtime,
            self._claimed.principal,
            made_for,
            loaded,
            deadline=self._deadline,
            cancelled=self._watch.is_cancelled,
            tell=self._tell,
        )
        with gathered as gathering:
            call = self._begun(loaded, workbench, made_for, gathering)
            gathering.begun()
            started = time.monotonic()
            try:
                response, ended = calls.make(
                    self._runtime,
                    call,
                    made_for,
                    deadline=min(
                        self._deadline,
                        started + self._runtime.settings.call_timeout.total_seconds(),
                    ),
                    on_event=self._on_event,
                    cancelled=self._watch.is_cancelled,
                )
            except ProviderFailure as failure:
                gathering.note(calls.failed(self._runtime, call, failure, started))
                self._failed(call, failure, started)
                return None
            gathering.note(ended)
            if not gathering.asked:
                return call, response, ended
            # What was paid is on record before hooks are told, however long they take.
            self._writing.surely(lambda tx: calls.note_end(self._runtime, tx, call, ended))
            return call, response, None

    def _begun(
        self, loaded: Loaded, workbench: Workbench, made_for: MadeFor, gathering: Gathering
    ) -> Call:
        """The call, on record as begun."""
        with self._runtime.database.reading(self._claimed.principal) as tx:
            call = calls.ready(tx, self._run.session_id, loaded, workbench, gathering.injected)
        with self._transaction() as tx:
            tx.runs.begin_call(self._claimed.held)
            calls.note_begin(self._runtime, tx, made_for, call)
        return call

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

        self._writing.surely(write)
        if not again:
            raise failure
        self._may_retry_bare = False
        log.warning("thinking_refused", run=str(self._run.id))

    def _results(self, call: Call, answer: Answer) -> list[Block]:
        results = tool_calls.carry_out(
            answer.calls,
            call.assembled.request.tools,
            deadline=self._deadline,
            cancelled=self._watch.is_cancelled,
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
            # First the session, as whoever appends to it does: no two can wait for each other.
            stored = tx.messages.append(self._run.session_id, new)
            if ended is not None:
                calls.note_end(self._runtime, tx, call, ended)
            if answer.left_out:
                thinking.retire_all(tx, call.assembled)
            thinking.note_sent(tx, call.assembled, list(zip(new, stored, strict=True)))
            seqs = [each.seq for each in stored]
            tx.runs.end_turn(self._claimed.held, self._turns, seqs, ending)
            return seqs

        seqs = self._writing.surely(write)
        self._tell("turn.finished", {"turn": self._turns, "messages": seqs})
        if ending is not None:
            self._tell_ended(ending)
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

        self._writing.surely(lambda tx: tx.runs.end(self._claimed.held, ending))
        self._tell_ended(ending)

    def _tell_ended(self, ending: Ending) -> None:
        spans.current().set({names.TURNS: self._turns})
        tell_ended(self._runtime, names.RUNS, self._run.id, ending)

    def _on_event(self, event: Event) -> None:
        about = {"turn": self._turns + 1, "block": event.get("index")}
        if event["type"] == "content_block_start":
            begun = event["content_block"]
            named = {name: begun[name] for name in ("type", "id", "name") if name in begun}
            self._tell("message.block", about | named)
        elif event["type"] == "content_block_delta":
            self._tell("message.delta", about | {"delta": event["delta"]})

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


def _span_attributes(runtime: Runtime, claimed: Claimed[Run]) -> spans.Attributes:
    run = claimed.work
    return {
        names.OPERATION: names.RUN,
        names.AGENT: str(run.agent_id),
        names.CONVERSATION: str(run.session_id),
        names.TENANT: str(claimed.principal.tenant_id),
        names.RUN_ID: str(run.id),
        names.LANGFUSE_TYPE: "agent" if runtime.settings.langfuse else None,
        names.LANGFUSE_SESSION: str(run.session_id) if runtime.settings.langfuse else None,
    }


def _made_for(run: Run) -> MadeFor:
    return MadeFor(
        purpose="turn" if run.parent_run_id is None else "subagent",
        agent_id=run.agent_id,
        session_id=run.session_id,
        run_id=run.id,
    )
