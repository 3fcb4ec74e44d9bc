"""Ablations: the same call without each of some parts in turn, against the call with all of them.

    baselines   the call with everything, made more than once: answers differ by chance as well
    steps       one for each baseline and each part; several parts that lead to the same request,
                as a tool call and its result do, share one try

All money is in micro-dollars. `most` is what a call costs when its whole input is written to the
cache and its answer is as long as it may be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import msgspec

from app.domain.answer_diff import AnswerChange
from app.domain.overrides import Override
from app.domain.pairs import Partner
from app.domain.quota import Amount
from app.domain.tries import Plan, SentSnapshot
from app.domain.work import Loaded, Status

MOST_PARTS = 30
MOST_BASELINES = 5

MAX_COST_REACHED = "max_cost_reached"
NO_BASELINE = "no_baseline"
CANCELLED = "cancelled"


class Reason(msgspec.Struct, frozen=True):
    """Why something was not done."""

    code: str
    message: str


class Found(msgspec.Struct, frozen=True):
    """How an answer differs from the baseline's that it is most like."""

    change: AnswerChange
    similarity: float  # see `Likeness`
    # Whether it differs more than the baselines do from each other; None: one alone was answered.
    beyond_noise: bool | None = None


class Noise(msgspec.Struct, frozen=True):
    """How much the answers to the very same request differ: the worst of all pairs."""

    change: AnswerChange
    similarity: float


class Step(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One row of the table. `part` None: a baseline."""

    part: str | None
    tokens: int | None = None  # of its request; None: there is none
    added: Sequence[Partner] = ()
    refused: Reason | None = None
    same_as: int | None = None  # the number of the step whose request is the same
    likely: int | None = None  # see `Estimate`
    most: int | None = None
    most_tokens: int = 0
    try_id: UUID | None = None
    skipped: bool = False
    found: Found | None = None

    @property
    def is_own(self) -> bool:
        """Whether it has a try of its own, once it is started."""
        return self.refused is None and self.same_as is None

    @property
    def waits(self) -> bool:
        """Whether its try is still to be started."""
        return self.is_own and self.try_id is None and not self.skipped


class Table(msgspec.Struct, kw_only=True):
    """All steps, the baselines first, and what came out of them."""

    steps: list[Step]
    noise: Noise | None = None
    stopped: Reason | None = None  # why no more tries are started

    @property
    def baselines(self) -> list[Step]:
        """The steps that are the call with everything."""
        return [each for each in self.steps if each.part is None]

    @property
    def own(self) -> list[Step]:
        """The steps that have tries of their own: as many calls as will be paid for."""
        return [each for each in self.steps if each.is_own]

    def skip_rest(self, why: Reason) -> None:
        """Start no more."""
        self.stopped = self.stopped or why
        for each in self.steps:
            each.skipped = each.skipped or each.waits


class StepPlan(msgspec.Struct, frozen=True):
    """What a step's try sends."""

    overrides: Sequence[Override]
    added: Sequence[Partner]
    snapshot: SentSnapshot


class Plans(msgspec.Struct, frozen=True):
    """What all tries of an ablation go by, read once: kept until the last of them has begun."""

    base: Loaded
    steps: Sequence[StepPlan | None]  # by the number of the step; None: no try of its own

    def of(self, number: int, *, ablation_id: UUID, baseline_id: UUID | None) -> Plan:
        """The plan of a step's try."""
        step = self.steps[number]
        if step is None:
            raise LookupError(number)
        loaded = msgspec.structs.replace(self.base, overrides=tuple(step.overrides))
        return Plan(
            loaded=loaded,
            added=step.added,
            snapshot=step.snapshot,
            baseline_id=baseline_id,
            ablation_id=ablation_id,
        )


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an ablation costs; None: no price is known for the model."""

    tries: int
    likely: int | None  # every input at its full price, answers as long as they usually are
    most: int | None
    needed: int | None  # the least that can be allowed: all that is likely, or the dearest call


def estimate(table: Table) -> Estimate:
    """What the tries of this table would cost together."""
    likely, most = [each.likely for each in table.own], [each.most for each in table.own]
    if None in likely or None in most:
        return Estimate(len(table.own), None, None, None)
    total = sum(each or 0 for each in likely)
    dearest = max((each or 0 for each in most), default=0)
    return Estimate(len(table.own), total, sum(each or 0 for each in most), max(total, dearest))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation:
    """An ablation as it is stored."""

    id: UUID
    session_id: UUID
    owner_id: UUID
    key_id: UUID | None
    status: Status  # running, and then succeeded, failed or cancelled
    model: str
    max_cost_micro_dollars: int | None  # None: no limit
    table: Table
    created_at: str
    finished_at: str | None
    cancel_requested_at: str | None
    error_code: str | None
    error_detail: str | None
    expires_at: str


def amount_of(step: Step) -> Amount:
    """The most that the step's call can use, for the quota."""
    return Amount(step.most_tokens, step.most or 0)
