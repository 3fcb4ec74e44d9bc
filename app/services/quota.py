"""Quota: reserved before a call, settled after it, set by an admin.

A call's two transactions are short, and none is open while the model answers. In both its usage
record is written as well, whose id names the reservation:

    with database.transaction(owner) as tx:
        quota.reserve(tx, record_id, most, now=runtime.now(), lease=…)
    …the call…
    with database.transaction(owner) as tx:
        quota.settle(tx, record_id, quota.spent(ended), now=runtime.now())
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import structlog

from app.domain.audit import Action
from app.domain.quota import Amount, Quota, Reservation, Standing
from app.domain.usage import EndedCall
from app.errors import QuotaExceeded
from app.provider.prices import price
from app.runtime import Runtime
from app.store.transaction import Transaction

log = structlog.get_logger(__name__)

# A job may be delivered again for an hour, and is not to settle the same call twice.
KEPT_AFTER_LEASE = timedelta(days=1)

NOTHING = Amount()


def most(provider: str, model: str, *, input_tokens: int, max_tokens: int, at: datetime) -> Amount:
    """The most that a call can use: its whole input, written to the cache, and a full answer."""
    usage = {"cache_creation_input_tokens": input_tokens, "output_tokens": max_tokens}
    found = price(provider, model, {"input_tokens": 0} | usage, at)
    return Amount(input_tokens + max_tokens, found.micro_dollars if found else 0)


def spent(ended: EndedCall) -> Amount:
    """What a call used, by the provider's own figures: cached tokens count like fresh ones.

    A figure that is not known adds nothing, as in the reports of usage.
    """
    figures = (
        ended.input_tokens,
        ended.cache_read_tokens,
        ended.cache_write_tokens,
        ended.output_tokens,
    )
    return Amount(sum(each or 0 for each in figures), ended.cost_micro_dollars or 0)


def reserve(
    tx: Transaction, record_id: UUID, amount: Amount, *, now: datetime, lease: timedelta
) -> Reservation:
    """Hold back what a call may use, until it is settled or its lease is over.

    Other reservations of the tenant wait until `tx` ends, so it ends soon.

    Raises:
        QuotaExceeded: less than that is left. Nothing is held.
    """
    limited = tx.quota.lock()
    if not limited.is_unlimited:
        standing = tx.quota.standing(limited, now)
        if not standing.covers(amount):
            raise _exceeded(standing)
    return tx.quota.reserve(record_id, amount, now + lease)


def settle(tx: Transaction, record_id: UUID, used: Amount, *, now: datetime) -> None:
    """Put what the call used in the place of what was reserved. Again: nothing happens."""
    if not tx.quota.settle(record_id, used, now.date()):
        log.info("quota_settled_before", record_id=str(record_id))


def check(tx: Transaction, *, now: datetime, most: Amount = NOTHING) -> None:
    """Go on only while something of the quota is left, and so much. Holds nothing back.

    Raises:
        QuotaExceeded: it is used up, reserved to the last token, or leaves too little.
    """
    quota = tx.quota.get()
    if quota.is_unlimited:
        return
    standing = tx.quota.standing(quota, now)
    used_up = 0 in (standing.left.tokens, standing.left.micro_dollars)
    if used_up or not standing.covers(most):
        raise _exceeded(standing)


def show(tx: Transaction, *, now: datetime) -> Standing:
    """The tenant's quota, and what is left of it."""
    return tx.quota.standing(tx.quota.get(), now)


def replace(tx: Transaction, quota: Quota, *, now: datetime) -> Standing:
    """Set other limits. What was used in the period stays used.

    Raises:
        NotFound: the principal is no admin.
    """
    tx.quota.put(quota)
    limits = {"tokens": quota.limits.tokens, "micro_dollars": quota.limits.micro_dollars}
    tx.audit.add(
        Action.QUOTA_UPDATE, "tenant", tx.principal.tenant_id, {"period": quota.period} | limits
    )
    return tx.quota.standing(quota, now)


def purge(runtime: Runtime) -> None:
    """Forget what calls of long ago had reserved, whether they were settled or their worker died.

    A reservation holds nothing from the end of its lease on, also while no sweep runs.
    """
    with runtime.database.system() as system:
        purged = system.quota.purge(runtime.now(), KEPT_AFTER_LEASE)
    log.info("quota_reservations_purged", rows=purged)


def _exceeded(standing: Standing) -> QuotaExceeded:
    left, resets_at = standing.left, standing.resets_at
    return QuotaExceeded(
        f"The quota leaves too little for this call until {resets_at}.",
        extensions={
            "left": {"tokens": left.tokens, "micro_dollars": left.micro_dollars},
            "resets_at": resets_at,
        },
    )
