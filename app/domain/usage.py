"""Usage: what each model call was sent, what it came to, and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal
from uuid import UUID

import msgspec

Purpose = Literal["turn", "summary", "subagent", "context_try", "fold", "gateway"]
# unknown: the call has not ended, or its worker died before the answer. It may have been paid for.
Outcome = Literal["unknown", "succeeded", "failed", "timed_out", "cancelled"]


class SentPart(msgspec.Struct, frozen=True, omit_defaults=True):
    """One part of a call that was made: what identifies it, never what it says."""

    id: str
    kind: str
    sha256: str
    tokens: int
    included: bool = True
    override: str = "none"
    unavailable: str | None = None  # of an injection that failed: the code of why


class StartedCall(msgspec.Struct, frozen=True, kw_only=True):
    """A model call that is about to be made."""

    id: UUID
    purpose: Purpose
    agent_id: UUID
    session_id: UUID
    run_id: UUID | None = None
    try_id: UUID | None = None
    provider: str
    model: str
    estimated_tokens: int
    estimator: str
    request_sha256: str
    manifest: Sequence[SentPart]


class EndedCall(msgspec.Struct, frozen=True, kw_only=True):
    """What a model call came to. None: the provider did not say, or no price is known."""

    outcome: Outcome
    latency_ms: int
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost_micro_dollars: int | None = None
    price_version: str | None = None
    provider_request_id: str | None = None
    thinking_left_out: int | None = None  # blocks that the provider has not taken back


class CallRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A model call, as it is kept."""

    call: int | None  # counted from 1; None: of no run
    purpose: Purpose
    provider: str
    model: str
    outcome: Outcome
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    estimated_tokens: int | None
    estimator: str | None
    cost_micro_dollars: int | None
    price_version: str | None
    latency_ms: int | None
    request_sha256: str | None
    provider_request_id: str | None
    thinking_left_out: int | None
    created_at: str

    @property
    def has_usage(self) -> bool:
        """Whether the provider has said what it used."""
        return self.input_tokens is not None

    @property
    def has_cost(self) -> bool:
        """Whether it is known what it cost."""
        return self.cost_micro_dollars is not None


class UsageTotals(msgspec.Struct, frozen=True):
    """The sums over the calls of a run. Calls of unknown outcome or price add nothing."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_micro_dollars: int = 0
    unpriced_calls: int = 0  # of no known price: the cost is without them

    def __add__(self, other: UsageTotals) -> UsageTotals:
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return UsageTotals(*(one + another for one, another in pairs))


class RunUsage(msgspec.Struct, frozen=True):
    """What a run has used: its own calls alone, and with those of its helpers and of theirs."""

    own: UsageTotals = UsageTotals()
    with_helpers: UsageTotals = UsageTotals()


class ChangedPart(msgspec.Struct, frozen=True):
    """A part that two calls both list, differently."""

    before: SentPart
    after: SentPart


class CallDiff(msgspec.Struct, frozen=True):
    """What a later call sent differently from an earlier one."""

    before_sha256: str | None
    after_sha256: str | None
    added: list[SentPart]
    removed: list[SentPart]
    changed: list[ChangedPart]
    unchanged: int


def difference(
    before: tuple[CallRecord, Sequence[SentPart]], after: tuple[CallRecord, Sequence[SentPart]]
) -> CallDiff:
    """Compare two calls part by part."""
    old = {part.id: part for part in before[1]}
    new = {part.id: part for part in after[1]}
    both = [(old[each], new[each]) for each in new if each in old]
    return CallDiff(
        before_sha256=before[0].request_sha256,
        after_sha256=after[0].request_sha256,
        added=[new[each] for each in new if each not in old],
        removed=[old[each] for each in old if each not in new],
        changed=[ChangedPart(was, now) for was, now in both if was != now],
        unchanged=sum(was == now for was, now in both),
    )
