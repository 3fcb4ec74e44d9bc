"""How the tries of an ablation stand now: what they cost, what their answers tell. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal
from uuid import UUID

import msgspec

from app.domain.ablation import NO_BASELINE, Found, Noise, Reason, Step, Table
from app.domain.answer_diff import AnswerChange, Content, Likeness, likeness
from app.domain.tries import Try
from app.domain.usage import CallRecord

_RANK: Mapping[AnswerChange, int] = {"same": 0, "text": 1, "tool_calls": 2}


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
