"""What a change of overrides would answer and cost, before it is saved."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import msgspec

from app.domain.completion import AGENT_KINDS, SESSION_KINDS
from app.domain.overrides import Override, OverrideSet, Target
from app.errors import BadParameter, Fault
from app.services import context
from app.services.context import Assembled
from app.services.overrides import Wish, alternatives, decide
from app.store.transaction import Transaction


def preview(
    tx: Transaction, target: Target, wishes: Sequence[Wish], session_id: UUID | None
) -> dict[str, object]:
    """What `replace` would answer, and what the edit would cost in this session.

    Stores nothing; for an agent without a session, nothing is known of the price.

    Raises:
        NotFound: the target or the session is not the principal's to see.
        OverridesRefused: as `replace` would.
    """
    saved = tx.overrides.of(target)
    if session_id is not None and target.kind == "agent":
        _check_same_agent(tx, target.id, session_id)
    decided = decide(tx, target, wishes)
    cost: Price = UNKNOWN_PRICE
    dropped: tuple[str, ...] | None = None
    if session_id is not None:
        before = context.assemble(tx, session_id)
        after = context.assemble(tx, session_id, _Instead(tx, target, decided.completed.overrides))
        cost, dropped = price(before, after), context.thinking_dropped(after)
    return {
        "version": saved.version,
        "overrides": decided.completed.overrides,
        "added": decided.completed.added,
        "thinking_dropped": dropped,
        "alternatives": tuple(alternatives(decided)),
        "price": cost,
    }


def _check_same_agent(tx: Transaction, agent_id: UUID, session_id: UUID) -> None:
    if tx.sessions.get(session_id).agent_id != agent_id:
        detail = "Name a session of this agent: another's parts tell nothing of its price."
        raise BadParameter(faults=[Fault("session", "wrong_target", detail)])


class _Instead:
    """The saved overrides, with those of one target replaced by others."""

    def __init__(self, tx: Transaction, target: Target, overrides: Sequence[Override]) -> None:
        self._tx = tx
        self._target = target
        self._overrides = overrides

    def for_run(self, agent_id: UUID, session_id: UUID) -> OverrideSet:
        saved = self._tx.overrides.for_run(agent_id, session_id)
        kinds = AGENT_KINDS if self._target.kind == "agent" else SESSION_KINDS
        kept = [each for each in saved if each.part.partition(":")[0] not in kinds]
        return OverrideSet([*kept, *self._overrides])


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """What an edit costs once and saves from then on, in tokens; None: not known."""

    saved_per_call: int | None
    prefix_rebilled: int | None
    pays_after_calls: int | None
    prefix_lost: bool | None = None  # it becomes too short for the provider to keep it at all


UNKNOWN_PRICE = Price(saved_per_call=None, prefix_rebilled=None, pays_after_calls=None)


def price(before: Assembled, after: Assembled) -> Price:
    """Compare the next call without and with an edit.

    A changed prefix is written to the provider's cache anew: what is cached of it is billed once
    more in full. Reads of a cached prefix cost a tenth or less of that, so each call afterwards
    saves what the request has become shorter. A prefix that becomes too short to be kept is billed
    in full on every call: such an edit never pays.
    """
    old, new = context.described(before), context.described(after)
    saved = old.totals.after - new.totals.after
    lost = old.cache.effective and not new.cache.effective
    same_prefix = _prefix(before) == _prefix(after)
    cached = new.cache.effective or lost
    rebilled = new.cache.prefix_tokens if cached and not same_prefix else 0
    return Price(
        saved_per_call=saved,
        prefix_rebilled=rebilled,
        pays_after_calls=None if lost else _calls_until_paid(saved, rebilled),
        prefix_lost=lost,
    )


def _prefix(assembled: Assembled) -> tuple[object, ...]:
    request = assembled.request
    return (*(t.definition for t in request.tools), *(b.text for b in request.system))


def _calls_until_paid(saved: int, rebilled: int) -> int | None:
    if rebilled == 0:
        return 0
    return -(-rebilled // saved) if saved > 0 else None
