"""Ablations: confirmed, carried on try by try, read, cancelled.

Nobody holds an ablation: its row says what is left to do. Whenever one of its tries has ended, the
next ones are started (`carry_on`); when that word got lost, the sweep does it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog

from app.domain.ablation import (
    CANCELLED,
    MAX_COST_REACHED,
    Ablation,
    Plans,
    Reason,
    amount_of,
)
from app.domain.ablation_standing import Standing
from app.domain.ids import new_id
from app.domain.pages import Page
from app.domain.tries import Try
from app.domain.work import Status
from app.errors import MaxCostTooLow, NotFound, PriceUnknown, QuotaExceeded
from app.runtime import Runtime
from app.services import quota, tries, work
from app.services.ablation_plans import Planned
from app.store.transaction import Transaction
from app.telemetry import logs

log = structlog.get_logger(__name__)

SWEEP_BATCH = 100


@dataclass(frozen=True, slots=True)
class Shown:
    """An ablation and how its tries stand."""

    ablation: Ablation
    standing: Standing

    @property
    def id(self) -> UUID:
        """The ablation's."""
        return self.ablation.id

    @property
    def status(self) -> Status:
        """Where it stands."""
        return self.ablation.status


def begin(
    runtime: Runtime, tx: Transaction, session_id: UUID, planned: Planned, max_cost: int | None
) -> Shown:
    """Store an ablation whose cost was confirmed, and start its first tries.

    `max_cost` is in micro-dollars and never passed; None: no limit.

    Raises:
        MaxCostTooLow, PriceUnknown: the limit could not be kept.
        QuotaExceeded: the first call could use more than is left.
    """
    _check(planned, max_cost)
    quota.check(tx, now=runtime.now(), most=amount_of(planned.table.steps[0]))
    expires_at = runtime.now() + runtime.settings.try_retention
    added = tx.ablations.add(
        new_id(),
        session_id,
        model=planned.model,
        table=planned.table,
        plans=planned.plans,
        max_cost=max_cost,
        expires_at=expires_at,
    )
    return _carried_on(runtime, tx, added, planned.plans)


def get(tx: Transaction, ablation_id: UUID) -> Shown:
    """Raises NotFound."""
    return _shown(tx, tx.ablations.get(ablation_id))


def page(tx: Transaction, session_id: UUID, after: UUID | None, limit: int) -> Page[Shown]:
    """The session's ablations, newest first. Raises NotFound."""
    tx.sessions.get(session_id)
    found = tx.ablations.page(session_id, after, limit)
    return Page([_shown(tx, each) for each in found.items], found.next)


def cancel(runtime: Runtime, tx: Transaction, ablation_id: UUID) -> tuple[Shown, Sequence[Try]]:
    """Start no more tries and end those that are open; with them, whom to tell of it.

    It has ended when the last of them has: a call that runs is broken off within a second.

    Raises:
        NotFound: the ablation is not the principal's to see.
    """
    tx.ablations.get(ablation_id)
    held = tx.ablations.hold(ablation_id)
    if held is None:
        return get(tx, ablation_id), []
    tx.ablations.ask_to_cancel(ablation_id)
    opened = [each for each in tx.tries.of_ablation(ablation_id) if not each.status.is_final]
    cancelled = [tries.cancel(tx, each.id).trial for each in opened]
    ablation, plans = held
    ablation.table.skip_rest(Reason(CANCELLED, "It was cancelled."))
    return _carried_on(runtime, tx, ablation, plans), cancelled


def carry_on(runtime: Runtime, ablation_id: UUID) -> None:
    """Note what came out of tries that have ended, and start the next. Safe to deliver twice."""
    with runtime.database.system() as system:
        owner = system.ablations.owner(ablation_id)
    if owner is None:
        return
    with runtime.database.transaction(owner) as tx:
        held = tx.ablations.hold(ablation_id)
        if held is None:
            return
        shown = _carried_on(runtime, tx, *held)
    tell(runtime, shown)


def tell(runtime: Runtime, shown: Shown, cancelled: Sequence[Try] = ()) -> None:
    """Wake up those who wait for an ablation that has ended, and for tries that it cancelled."""
    for each in cancelled:
        work.tell_cancelled(runtime, each)
    if shown.status.is_final:
        runtime.events.ended(shown.id, shown.status)


def sweep(runtime: Runtime) -> None:
    """Carry on with what a lost word, or a dead worker, has left standing."""
    with runtime.database.system() as system:
        standing = system.ablations.running(SWEEP_BATCH)
    for each in standing:
        try:
            carry_on(runtime, each)
        except Exception as error:  # noqa: BLE001 - one that fails does not keep the others
            log.error("ablation_stuck", id=str(each), where=logs.where(error))


def _check(planned: Planned, max_cost: int | None) -> None:
    """Raises MaxCostTooLow, PriceUnknown."""
    if max_cost is None:
        return
    needed, most = planned.estimate.needed, planned.estimate.most
    if needed is None or most is None:
        raise PriceUnknown("Give `max_cost: null` to go on without a limit.")
    if max_cost < needed:
        raise MaxCostTooLow(
            f"These {planned.estimate.tries} tries need {needed} micro-dollars, and can take "
            f"{most} at most; {max_cost} are allowed. Name fewer parts, or allow more.",
            extensions={
                "max_cost": {"micro_dollars": max_cost},
                "needed": {"micro_dollars": needed},
                "most": {"micro_dollars": most},
            },
        )


def _carried_on(runtime: Runtime, tx: Transaction, ablation: Ablation, plans: Plans) -> Shown:
    """Go on as far as it goes now. The ablation is held, so that nobody else does the same."""
    shown = _shown(tx, ablation)
    shown.standing.compare()
    while (number := _next(runtime, shown)) is not None:
        _start(runtime, tx, ablation, plans, number)
        shown = _shown(tx, ablation)
    if not shown.standing.open and not any(each.waits for each in ablation.table.own):
        return Shown(tx.ablations.end(ablation), shown.standing)
    return Shown(tx.ablations.save(ablation), shown.standing)


def _next(runtime: Runtime, shown: Shown) -> int | None:
    """The number of the step to be started now, if there is one."""
    table, standing = shown.ablation.table, shown.standing
    number = next((n for n, each in enumerate(table.steps) if each.waits), None)
    if number is None or standing.open >= runtime.settings.ablation_concurrency:
        return None
    if table.steps[number].part is not None and not standing.has_baseline:
        return None  # without one there would be nothing to compare with
    if standing.affords(table.steps[number], shown.ablation.max_cost_micro_dollars):
        return number
    if not standing.open:  # what runs may cost less than it could, and leave enough
        why = "Another call could have cost more than was left of max_cost."
        table.skip_rest(Reason(MAX_COST_REACHED, why))
    return None


def _start(
    runtime: Runtime, tx: Transaction, ablation: Ablation, plans: Plans, number: int
) -> None:
    """Start a step's try, or none of the rest where that is not possible any more."""
    table = ablation.table
    step, baseline = table.steps[number], table.steps[0].try_id
    plan = plans.of(number, ablation_id=ablation.id, baseline_id=baseline)
    try:
        trial = tries.start(runtime, tx, ablation.session_id, plan, amount_of(step))
    except (QuotaExceeded, NotFound) as refusal:
        table.skip_rest(Reason(refusal.code, refusal.detail or refusal.title))
    else:
        step.try_id = trial.id


def _shown(tx: Transaction, ablation: Ablation) -> Shown:
    started = {each.id: each for each in tx.tries.of_ablation(ablation.id)}
    records = tx.usage.of_tries([*started])
    return Shown(ablation, Standing(ablation.table, started, records))
