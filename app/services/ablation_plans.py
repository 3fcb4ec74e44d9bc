"""What an ablation is going to try, and what that can cost. Nothing is written or called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from app.domain.ablation import (
    Estimate,
    Plans,
    Reason,
    Step,
    StepPlan,
    Table,
    estimate,
)
from app.domain.injections import part_of
from app.domain.tries import Plan
from app.errors import NothingToCompare, NothingToSend, OverridesRefused
from app.provider.prices import price
from app.runtime import Runtime
from app.services import calls
from app.services.context import Assembled
from app.services.try_plans import Planning, Wanted
from app.store.transaction import Transaction

USUAL_OUTPUT = 1_000  # tokens of an answer, where the session has no call on record


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedAblation:
    """What a client asks for: leave each of the parts out in turn."""

    parts: Sequence[str]
    exclude: Sequence[str] = ()  # of every try, the baselines too; `replace`, `message` likewise
    replace: Mapping[str, str]
    message: str | None = None
    baselines: int = 2

    @property
    def base(self) -> Wanted:
        """The call with everything that is to be compared with."""
        return Wanted(exclude=self.exclude, replace=self.replace, message=self.message)

    def without(self, part: str) -> Wanted:
        """The same call without a part; where the base puts another text, without that too."""
        replace = {each: text for each, text in self.replace.items() if each != part}
        exclude = [*(each for each in self.exclude if each != part), part]
        return Wanted(exclude=exclude, replace=replace, message=self.message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """All that is going to be tried."""

    model: str
    table: Table
    plans: Plans
    estimate: Estimate


def planned(runtime: Runtime, tx: Transaction, session_id: UUID, wanted: WantedAblation) -> Planned:
    """Decide what is going to be tried. A part that cannot be left out fails none of the others.

    Raises:
        NotFound: the session is not the principal's to see.
        OverridesRefused, HistoryRefused, NothingToSend: the call with everything could not be sent.
        NothingToCompare: no part that is named could be left out, or would make a difference.
    """
    session = tx.sessions.get(session_id)
    planning = Planning(tx, session)
    prices = _Prices(runtime, tx.usage.usual_output(session_id) or USUAL_OUTPUT)
    base, assembled = planning.plan(wanted.base)
    steps = [prices.step(None, base, assembled) for _ in range(wanted.baselines)]
    plans: list[StepPlan | None] = [_step_plan(base)] * wanted.baselines
    injected = _injected(base)
    numbers = {(base.snapshot.request_sha256, ""): 0}
    for part in dict.fromkeys(wanted.parts):
        try:
            plan, assembled = planning.plan(wanted.without(part))
        except (OverridesRefused, NothingToSend) as refusal:
            steps.append(Step(part=part, refused=_reason(refusal)))
            plans.append(None)
            continue
        step = prices.step(part, plan, assembled)
        # An injection is gathered right before the call: no plan has it, nor misses it.
        same = (plan.snapshot.request_sha256, part if part in injected else "")
        step.same_as = numbers.setdefault(same, len(steps))
        if step.same_as == len(steps):
            step.same_as = None
        steps.append(step)
        plans.append(_step_plan(plan) if step.is_own else None)
    table = Table(steps=steps)
    if len(table.own) == wanted.baselines:
        raise NothingToCompare(
            "Name a part that is in the request and can be left out: the session's context "
            "lists them."
        )
    return Planned(
        model=base.snapshot.model,
        table=table,
        plans=Plans(base.loaded, plans),
        estimate=estimate(table),
    )


class _Prices:
    """What calls can cost, and what they are likely to."""

    def __init__(self, runtime: Runtime, usual_output: int) -> None:
        self._runtime = runtime
        self._usual_output = usual_output

    def step(self, part: str | None, plan: Plan, assembled: Assembled) -> Step:
        """The row of a part, with its figures."""
        gathered = sum(each.tokens for each in plan.loaded.agent.injections)
        most = calls.most(self._runtime, assembled, more_input=gathered)
        tokens = plan.snapshot.totals.after
        output = min(self._usual_output, assembled.request.max_tokens)
        likely = self._price(plan.snapshot.model, tokens, output)
        return Step(
            part=part,
            tokens=tokens,
            added=plan.added,
            likely=likely,
            most=None if likely is None else most.micro_dollars,
            most_tokens=most.tokens,
        )

    def _price(self, model: str, tokens: int, output: int) -> int | None:
        usage = {"input_tokens": tokens, "output_tokens": output}
        found = price(self._runtime.provider.name, model, usage, self._runtime.now())
        return None if found is None else found.micro_dollars


def _injected(base: Plan) -> set[str]:
    """The parts that are gathered for each call, and not left out of all of them."""
    return {str(part_of(each.name)) for each in base.loaded.agent.injections} - {*base.excluded}


def _step_plan(plan: Plan) -> StepPlan:
    return StepPlan(plan.overrides, plan.added, plan.snapshot)


def _reason(refusal: OverridesRefused | NothingToSend) -> Reason:
    """Of several faults the first: the others are often its consequences."""
    if refusal.faults:
        return Reason(refusal.faults[0].code, refusal.faults[0].detail)
    return Reason(refusal.code, refusal.detail or refusal.title)
