"""Inspect: what the next model call of a session would send. Writes nothing, calls nobody."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from app.chain.capture import capture
from app.chain.fingerprint import text_sha256
from app.chain.middlewares.context_overrides import OverrideSource, overrides_of
from app.chain.snapshots import Covered, snapshot
from app.chain.stack import Reads, Workbench, default_chain
from app.domain.injections import Injected
from app.domain.jsontext import loads
from app.domain.overrides import NO_OVERRIDES, OverrideSet
from app.domain.parts import AnyPart, seq_of
from app.domain.ports import Estimator, History
from app.domain.requests import ModelRequest, RunState
from app.domain.snapshots import Page, Snapshot
from app.domain.work import Loaded
from app.provider import wire
from app.services.frozen import frozen, frozen_history
from app.store.transaction import Transaction
from app.telemetry import context as telemetry
from app.telemetry import metrics, names, spans
from app.tokens.estimator import estimator_for


@dataclass(frozen=True, slots=True)
class Assembled:
    """The next request of a session, as the chain captured it."""

    request: ModelRequest
    state: RunState
    estimator: Estimator


def assemble(  # noqa: PLR0913 (what one request is made of)
    tx: Transaction,
    session_id: UUID,
    overrides: OverrideSource | None = None,
    loaded: Loaded | None = None,
    workbench: Workbench | None = None,
    injected: Sequence[Injected] | None = None,
) -> Assembled:
    """Build the next request through the real chain, and stop before anything is called.

    With `overrides`, those act in place of the saved ones; with `loaded`, all that a run reads
    once is taken from there. With a `workbench`, its tools can be carried out. `injected` is what
    was gathered for this request.

    Raises:
        NotFound: the session is not the principal's to see.
    """
    agent = loaded.agent if loaded else tx.agents.used_by(tx.sessions.get(session_id))
    estimator = estimator_for(agent.model)
    history = tx.messages.history(session_id, counted_by=estimator.id)
    if loaded:
        history = frozen_history(history, loaded, estimator)
    _count_missing(tx, session_id, history, estimator)
    state = RunState(agent, session_id, history)
    reads = _reads(tx, overrides or tx.overrides)
    frozen_reads = frozen(reads, loaded) if loaded else reads
    chain = default_chain(frozen_reads, estimator, workbench, injected)
    chain.before_run(state)
    return Assembled(chain.model_call(state, capture), state, estimator)


def inspect(
    tx: Transaction, session_id: UUID, injected: Sequence[Injected] | None = None
) -> Snapshot:
    """The snapshot of the session's next call, with what was gathered for it.

    Raises:
        NotFound: the session is not the principal's to see.
    """
    return inspected(tx, session_id, injected)[1]


def inspected(
    tx: Transaction, session_id: UUID, injected: Sequence[Injected] | None = None
) -> tuple[Assembled, Snapshot]:
    """The session's next call, and its snapshot. Raises as `inspect` does."""
    started = time.perf_counter()
    with spans.begun(names.CONTEXT_INSPECT) as span:
        assembled = assemble(tx, session_id, injected=injected)
        find_covered(tx, assembled)
        shown = described(assembled)
        if span.recorded:
            span.set(telemetry.figures(shown))
            span.set(telemetry.overridden(shown))
            telemetry.tell_overrides(span, shown)
    metrics.record(names.INSPECT_DURATION, time.perf_counter() - started)
    return assembled, shown


def body_of(tx: Transaction, assembled: Assembled) -> dict[str, Any]:
    """The request as the body of a call."""
    request = assembled.request
    wanted = [each.seq for each in request.messages if not each.made]
    return wire.body(request, tx.messages.contents(assembled.state.session_id, wanted))


def described(assembled: Assembled) -> Snapshot:
    """The snapshot of a request that was assembled."""
    return snapshot(assembled.request, assembled.estimator)


def system_hashes(tx: Transaction, agent_id: UUID, parts: Collection[str]) -> dict[str, str]:
    """The hashes of those of the agent's system parts that are there, without any override."""
    agent = tx.agents.get(agent_id)
    state = RunState(agent, agent_id, History(None, []))
    chain = default_chain(_reads(tx, NothingSaved()), estimator_for(agent.model))
    chain.before_run(state)
    request: ModelRequest = chain.model_call(state, capture)
    return {each.part: text_sha256(each.text) for each in request.system if each.part in parts}


def _reads(tx: Transaction, overrides: OverrideSource) -> Reads:
    return Reads(tx.sources, overrides, tx.thinking, tx.messages)


class NothingSaved:
    """The source of a request without any override."""

    def for_run(self, agent_id: UUID, session_id: UUID) -> OverrideSet:
        """None."""
        del agent_id, session_id
        return NO_OVERRIDES


def find_covered(tx: Transaction, assembled: Assembled) -> None:
    """Load the headers of overridden messages that a checkpoint stands for, to list them."""
    checkpoint = assembled.state.history.checkpoint
    if checkpoint is None:
        return
    seqs = [seq for each in overrides_of(assembled.state) if (seq := seq_of(each.part))]
    covered = [seq for seq in seqs if seq <= checkpoint.covers_seq]
    if covered:
        headers = tx.messages.headers(assembled.state.session_id, covered, assembled.estimator.id)
        assembled.state.put(Covered(headers))


def thinking_dropped(assembled: Assembled) -> tuple[str, ...]:
    """The parts whose thinking the request leaves out."""
    parts = described(assembled).groups.messages.parts
    return tuple(part.id for part in parts if part.thinking_dropped)


def page_of_messages(whole: Snapshot, limit: int | None, before: int | None) -> Snapshot:
    """Keep the newest `limit` parts of the messages that stand before seq `before`.

    Totals stay over the whole. Parts without a seq (the summary, synthetic messages) belong to
    the page of their neighbour.
    """
    if limit is None and before is None:
        return whole
    group = whole.groups.messages
    end = _index_of(group.parts, before) if before is not None else len(group.parts)
    start = max(0, end - limit) if limit is not None else 0
    first = next((seq for part in group.parts[start:end] if (seq := _seq(part))), None)
    group.page = Page(before=first if start > 0 else None, total=len(group.parts))
    group.parts = group.parts[start:end]
    return whole


def _count_missing(
    tx: Transaction, session_id: UUID, history: History, estimator: Estimator
) -> None:
    """Count what was not counted by this estimator yet. Kept for this request alone."""
    cold = [message for message in history.messages if message.tokens is None]
    if cold:
        contents = tx.messages.contents(session_id, [message.seq for message in cold])
        for message in cold:
            blocks = loads(contents[message.seq])
            message.tokens = estimator.message(message.role, blocks).tokens
    summary = history.checkpoint.summary if history.checkpoint else None
    if summary and summary.made and summary.tokens is None:
        summary.tokens = estimator.message(summary.role, summary.made.blocks).tokens


def _seq(part: AnyPart) -> int | None:
    return int(part.id[8:]) if part.id.startswith("message:") else None


def _index_of(parts: list[AnyPart], before: int) -> int:
    """Where the first message with a seq of `before` or more stands."""
    return next(
        (i for i, part in enumerate(parts) if (seq := _seq(part)) is not None and seq >= before),
        len(parts),
    )
