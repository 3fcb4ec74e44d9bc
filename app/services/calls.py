"""One model call: noted before it is made, made with nothing open, noted again."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from app.chain.middlewares.guard import Decision
from app.chain.snapshots import snapshot
from app.chain.stack import Workbench
from app.domain.catalogue import facts_for
from app.domain.ids import new_id
from app.domain.injections import Injected
from app.domain.quota import Amount
from app.domain.responses import Response, Usage
from app.domain.snapshots import Snapshot
from app.domain.usage import EndedCall, Outcome, Purpose, SentPart, StartedCall
from app.domain.validity import betas_for, check_request
from app.domain.work import Loaded
from app.errors import NothingToSend, RequestInvalid
from app.provider.base import Cancelled as AskCancelled
from app.provider.base import OnEvent, unheard
from app.provider.failures import Cancelled, DeadlinePassed, ProviderFailure, ServerTimeout
from app.provider.prices import price
from app.runtime import Runtime
from app.services import context, quota
from app.services.context import Assembled
from app.store.transaction import Transaction
from app.telemetry import chat, spans

LATEST = timedelta(minutes=1)  # after its deadline a call is settled, or its worker is dead


@dataclass(frozen=True, slots=True)
class Call:
    """A model call that is ready to be made."""

    record_id: UUID
    assembled: Assembled
    body: Mapping[str, Any]
    shown: Snapshot
    traced_with_content: bool  # the tenant allows it, and spans are recorded


def ready(
    tx: Transaction,
    session_id: UUID,
    loaded: Loaded,
    workbench: Workbench | None = None,
    injected: Sequence[Injected] | None = None,
) -> Call:
    """Assemble the next call through the chain, as inspect does, and check it.

    Raises:
        NothingToSend, RequestInvalid
    """
    assembled = context.assemble(
        tx, session_id, loaded=loaded, workbench=workbench, injected=injected
    )
    request = assembled.request
    if not request.messages:
        raise NothingToSend("Take back the overrides that leave every message out.")
    body = context.body_of(tx, assembled)
    if faults := check_request(body, facts_for(request.model), betas_for(body)):
        raise RequestInvalid(f"{faults[0].code} at {faults[0].at}", faults=faults)
    traced = spans.current().recorded and tx.tenants.current().trace_llm_content
    return Call(new_id(), assembled, body, snapshot(request, assembled.estimator), traced)


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeFor:
    """What a call is made for."""

    purpose: Purpose
    agent_id: UUID
    session_id: UUID
    run_id: UUID | None = None
    try_id: UUID | None = None


def note_begin(runtime: Runtime, tx: Transaction, made_for: MadeFor, call: Call) -> None:
    """Put the call on record, and that its outcome is not known. Its run or try must be held.

    Raises:
        QuotaExceeded: it may use more than is left; it is not on record.
    """
    request, totals = call.assembled.request, call.shown.totals
    settings = runtime.settings
    lease = max(settings.call_timeout, settings.context_try_timeout) + LATEST
    reserved = most(runtime, call.assembled)
    quota.reserve(tx, call.record_id, reserved, now=runtime.now(), lease=lease)
    tx.usage.begin(
        StartedCall(
            id=call.record_id,
            purpose=made_for.purpose,
            agent_id=made_for.agent_id,
            session_id=made_for.session_id,
            run_id=made_for.run_id,
            try_id=made_for.try_id,
            provider=runtime.provider.name,
            model=request.model,
            estimated_tokens=totals.after,
            estimator=totals.estimator,
            request_sha256=call.shown.request_sha256,
            manifest=manifest(call.shown),
        )
    )


def most(runtime: Runtime, assembled: Assembled, more_input: int = 0) -> Amount:
    """The most that a call with this request, and `more_input` tokens, can use."""
    request = assembled.request
    return quota.most(
        runtime.provider.name,
        request.model,
        input_tokens=request.state.get(Decision).counted.total + more_input,
        max_tokens=request.max_tokens,
        at=runtime.now(),
    )


def make(  # noqa: PLR0913 (what one call is made of)
    runtime: Runtime,
    call: Call,
    made_for: MadeFor,
    *,
    deadline: float,
    cancelled: AskCancelled,
    on_event: OnEvent = unheard,
) -> tuple[Response, EndedCall]:
    """Make the call, seen by its span; the answer, and what to note. Nothing may be open meanwhile.

    Raises:
        ProviderFailure: there is no whole answer.
    """
    started = time.monotonic()
    with chat.begun(_about(runtime, call, made_for)) as span:
        try:
            response = runtime.provider.complete(
                call.body, deadline=deadline, on_event=on_event, cancelled=cancelled
            )
        except ProviderFailure as failure:
            ended = failed(runtime, call, failure, started)
            span.failed(failure.code, failure.seen.usage, ended.cost_micro_dollars)
            raise
        ended = _answered(runtime, call, response, started)
        span.answered(response, ended.cost_micro_dollars)
        return response, ended


def _about(runtime: Runtime, call: Call, made_for: MadeFor) -> chat.About:
    offline = runtime.provider.name == "offline"
    return chat.About(
        provider=runtime.provider.name,
        base_url=None if offline else runtime.settings.anthropic_base_url,
        purpose=made_for.purpose,
        body=call.body,
        shown=call.shown,
        run_id=str(made_for.run_id) if made_for.run_id else None,
        try_id=str(made_for.try_id) if made_for.try_id else None,
        with_content=call.traced_with_content,
        for_langfuse=runtime.settings.langfuse,
    )


def note_end(runtime: Runtime, tx: Transaction, call: Call, ended: EndedCall) -> None:
    """Put on record what the call came to, and count it against the quota."""
    tx.usage.end(call.record_id, ended)
    quota.settle(tx, call.record_id, quota.spent(ended), now=runtime.now())


def manifest(shown: Snapshot) -> list[SentPart]:
    """The parts of a snapshot, by what identifies them."""
    groups = (shown.groups.system, shown.groups.tools, shown.groups.messages)
    return [
        SentPart(
            part.id,
            part.kind,
            part.sha256,
            part.tokens,
            part.included,
            part.override,
            part.unavailable,
        )
        for group in groups
        for part in group.parts
    ]


def _answered(runtime: Runtime, call: Call, response: Response, started: float) -> EndedCall:
    ended = _priced(runtime, call, "succeeded", started, response.usage, response.request_id)
    return msgspec.structs.replace(ended, thinking_left_out=len(response.input_transformations))


def failed(runtime: Runtime, call: Call, failure: ProviderFailure, started: float) -> EndedCall:
    """What to note of a call that failed: the figures as far as the provider had told them.

    `started`: by `time.monotonic()`.
    """
    seen = failure.seen
    return _priced(runtime, call, _outcome(failure), started, seen.usage, seen.request_id)


def _priced(  # noqa: PLR0913 (what one record is made of)
    runtime: Runtime,
    call: Call,
    outcome: Outcome,
    started: float,
    usage: Usage | None,
    request_id: str | None,
) -> EndedCall:
    ended = EndedCall(
        outcome=outcome,
        latency_ms=round((time.monotonic() - started) * 1000),
        provider_request_id=request_id,
    )
    if usage is None:
        return ended
    model = call.assembled.request.model
    cost = price(runtime.provider.name, model, usage.raw, runtime.now())
    return msgspec.structs.replace(
        ended,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        cost_micro_dollars=cost.micro_dollars if cost else None,
        price_version=cost.version if cost else None,
    )


def _outcome(failure: ProviderFailure) -> Outcome:
    if isinstance(failure, Cancelled):
        return "cancelled"
    return "timed_out" if isinstance(failure, DeadlinePassed | ServerTimeout) else "failed"
