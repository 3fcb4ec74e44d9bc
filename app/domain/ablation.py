"""Ablations: the same call without each of some parts in turn, against the call with all of them.

    baselines   the call with everything, made more than once: answers differ by chance as well
    steps       one for each baseline and each part; several parts that lead to the same request,
                as a tool call and its result do, share one try

All money is in micro-dollars. `most` is what a call costs when its whole input is written to the
cache and its answer is as long as it may be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal
from uuid import UUID

import msgspec

from app.domain.answer_diff import AnswerChange, Content, Likeness, likeness
from app.domain.overrides import Override
from app.domain.pairs import Partner
from app.domain.quota import Amount
from app.domain.tries import Plan, SentSnapshot, Try
from app.domain.usage import CallRecord
from app.domain.work import Loaded, Status

MOST_PARTS = 30
MOST_BASELINES = 5

MAX_COST_REACHED = "max_cost_reached"
NO_BASELINE = "no_baseline"
CANCELLED = "cancelled"

_RANK: Mapping[AnswerChange, int] = {"same": 0, "text": 1, "tool_calls": 2}


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


class Standing:
    """How the tries of a table stand at one moment."""

    def __init__(
        self, table: Table, tries: Mapping[UUID, Try], records: Mapping[UUID, CallRecord]
    ) -> None:
        self.table = table
        self._tries = tries
        self._records = records

    def try_of(self, step: Step) -> Try | None:
        """Its try; None: not started, or purged."""
        return self._tries.get(step.try_id) if step.try_id else None

    def call_of(self, step: Step) -> CallRecord | None:
        """Its call; None: the model was not called, or not yet."""
        return self._records.get(step.try_id) if step.try_id else None

    @property
    def open(self) -> int:
        """How many tries have not ended."""
        tries = map(self.try_of, self.table.own)
        return sum(each is not None and not each.status.is_final for each in tries)

    @property
    def done(self) -> int:
        """How many steps nothing more happens to, of those with tries of their own."""
        return len(self.table.own) - self.open - sum(each.waits for each in self.table.own)

    @property
    def spent(self) -> int:
        """What the calls that have ended cost, as far as it is known."""
        costs = (self.call_of(each) for each in self.table.own)
        return sum(each.cost_micro_dollars or 0 for each in costs if each)

    @property
    def at_most(self) -> int:
        """What all that was started can have cost when it has ended.

        A call whose cost nobody knows is taken to have cost the most that it could.
        """
        return sum(map(self._at_most, (each for each in self.table.own if each.try_id)))

    def affords(self, step: Step, max_cost: int | None) -> bool:
        """Whether this step can be started without ever passing `max_cost`."""
        return max_cost is None or self.at_most + (step.most or 0) <= max_cost

    @property
    def has_baseline(self) -> bool:
        """Whether there is an answer to compare with."""
        return any(True for _ in self._answers(self.table.baselines))

    @property
    def are_baselines_over(self) -> bool:
        """Whether each of them has ended."""
        tries = [self.try_of(each) for each in self.table.baselines if each.try_id]
        started = not any(each.waits for each in self.table.baselines)
        return started and all(each is None or each.status.is_final for each in tries)

    def compare(self) -> None:
        """Note what can be said by now of answers, once all baselines have ended."""
        if not self.are_baselines_over:
            return
        baselines = [*self._answers(self.table.baselines)]
        self.table.noise = self.table.noise or _noise(baselines)
        if not baselines:
            self.table.skip_rest(Reason(NO_BASELINE, "The call with everything got no answer."))
            return
        for step in self.table.own:
            answer = next(self._answers([step]), None)
            if step.part is not None and step.found is None and answer is not None:
                step.found = _found(baselines, answer, self.table.noise)

    def _at_most(self, step: Step) -> int:
        trial, call = self.try_of(step), self.call_of(step)
        if trial is None or not trial.status.is_final:
            return step.most or 0
        if call is None:
            return 0
        known = call.cost_micro_dollars
        return (step.most or 0) if known is None else known

    def _answers(self, steps: Iterable[Step]) -> Iterator[Content]:
        for each in steps:
            trial = self.try_of(each)
            if trial is not None and trial.answer is not None:
                content: list[Mapping[str, Any]] = msgspec.json.decode(trial.answer)
                yield content


def _noise(baselines: Sequence[Content]) -> Noise | None:
    diffs = [likeness(one, other) for one, other in combinations(baselines, 2)]
    if not diffs:
        return None
    worst: AnswerChange = max((each.change for each in diffs), key=_RANK.__getitem__)
    return Noise(worst, min(each.similarity for each in diffs))


def _found(baselines: Sequence[Content], answer: Content, noise: Noise | None) -> Found:
    diffs = (likeness(each, answer) for each in baselines)
    nearest = min(diffs, key=lambda each: (_RANK[each.change], -each.similarity))
    return Found(nearest.change, nearest.similarity, _is_beyond(nearest, noise))


def _is_beyond(diff: Likeness, noise: Noise | None) -> bool | None:
    if noise is None:
        return None
    if diff.change == "tool_calls":
        return noise.change != "tool_calls"
    return diff.similarity < noise.similarity


StepState = Literal[
    "refused", "no_effect", "waiting", "skipped",
    "queued", "running", "succeeded", "failed", "timed_out", "cancelled",
]  # fmt: skip


def state_of(standing: Standing, step: Step) -> StepState:
    """Where a row of the table stands."""
    if step.refused is not None:
        return "refused"
    if step.same_as is not None:
        other = standing.table.steps[step.same_as]
        return "no_effect" if other.part is None else state_of(standing, other)
    if step.skipped:
        return "skipped"
    trial = standing.try_of(step)
    if trial is None:
        return "waiting"
    state: StepState = trial.status.value
    return state


def amount_of(step: Step) -> Amount:
    """The most that the step's call can use, for the quota."""
    return Amount(step.most_tokens, step.most or 0)
