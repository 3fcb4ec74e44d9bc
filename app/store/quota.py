"""Quotas: limits, what was used, what is reserved."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Connection,
    Select,
    Table,
    cast,
    delete,
    func,
    select,
    true,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from app.domain.ids import rfc3339
from app.domain.quota import Amount, Limits, Period, Quota, Reservation, Standing
from app.errors import NotFound
from app.store.repository import Repository
from app.store.tables import quota_days, quota_reservations, quotas


class Quotas(Repository):
    """The quota of the principal's tenant. All of its members use it up together."""

    def get(self) -> Quota:
        """What the tenant may use; unlimited where nobody set a limit."""
        return self._quota(self._own())

    def put(self, quota: Quota) -> Quota:
        """Replace the limits. Raises NotFound when the principal is no admin."""
        if not self._scope.principal.is_admin:
            raise NotFound
        values = {
            "period": quota.period,
            "tokens": quota.limits.tokens,
            "micro_dollars": quota.limits.micro_dollars,
        }
        new = insert(quotas).values(tenant_id=self._scope.tenant_id, **values)
        self._connection.execute(
            new.on_conflict_do_update(index_elements=["tenant_id"], set_=values)
        )
        return quota

    def lock(self) -> Quota:
        """The same as `get`, and until this transaction ends nobody else reserves."""
        locked = self._own().with_for_update()
        if self._first(locked) is None:
            new = insert(quotas).values(tenant_id=self._scope.tenant_id)
            self._connection.execute(new.on_conflict_do_nothing())
        return self._quota(locked)

    def standing(self, quota: Quota, at: datetime) -> Standing:
        """How much of this quota was used and is reserved at this moment.

        One statement, and so one snapshot: a call that is being settled counts once.
        """
        days, held = quota_days.c, quota_reservations.c
        used = _total(quota_days).where(
            self._scope.in_tenant(quota_days),
            days.day >= quota.period.start(at).date(),
            days.day < quota.period.end(at).date(),
        )
        reserved = _total(quota_reservations).where(
            self._scope.in_tenant(quota_reservations),
            held.settled_at.is_(None),
            held.lease_until > rfc3339(at),
        )
        both = used.subquery().join(reserved.subquery(), true())
        row = self._one(select(both))
        return Standing(quota, at, Amount(row[0], row[1]), Amount(row[2], row[3]))

    def reserve(self, call_id: UUID, amount: Amount, lease_until: datetime) -> Reservation:
        """Hold so much back. Whether it is left was asked before, under the lock."""
        made = Reservation(call_id, amount, rfc3339(lease_until))
        self._connection.execute(
            insert(quota_reservations).values(
                tenant_id=self._scope.tenant_id,
                user_id=self._scope.user_id,
                id=made.id,
                tokens=amount.tokens,
                micro_dollars=amount.micro_dollars,
                lease_until=made.lease_until,
            )
        )
        return made

    def settle(self, reservation_id: UUID, spent: Amount, on: date) -> bool:
        """Let what was spent take the place of the reservation, also of one past its lease.

        False, and nothing is counted: it was settled before, or is not the principal's.
        """
        mine = update(quota_reservations).where(
            self._scope.owned(quota_reservations, "user_id"),
            quota_reservations.c.id == reservation_id,
            quota_reservations.c.settled_at.is_(None),
        )
        settled = mine.values(settled_at=func.now()).returning(quota_reservations.c.id)
        if self._first(settled) is None:
            return False
        if spent != Amount():
            self._add(spent, on)
        return True

    def _add(self, spent: Amount, on: date) -> None:
        new = insert(quota_days).values(
            tenant_id=self._scope.tenant_id,
            day=on,
            tokens=spent.tokens,
            micro_dollars=spent.micro_dollars,
        )
        days = quota_days.c
        self._connection.execute(
            new.on_conflict_do_update(
                index_elements=["tenant_id", "day"],
                set_={
                    "tokens": days.tokens + new.excluded.tokens,
                    "micro_dollars": days.micro_dollars + new.excluded.micro_dollars,
                },
            )
        )

    def _own(self) -> Select[Any]:
        columns = (quotas.c.period, quotas.c.tokens, quotas.c.micro_dollars)
        return select(*columns).where(self._scope.in_tenant(quotas))

    def _quota(self, own: Select[Any]) -> Quota:
        row = self._first(own)
        return Quota() if row is None else Quota(Period(row[0]), Limits(row[1], row[2]))


class AllQuotas:
    """The reservations of every tenant, to be swept."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def purge(self, now: datetime, keep: timedelta) -> int:
        """Forget the reservations whose lease is over for longer than `keep`; how many."""
        over = quota_reservations.c.lease_until <= rfc3339(now - keep)
        return self._connection.execute(delete(quota_reservations).where(over)).rowcount


def _total(table: Table) -> Select[Any]:
    sums = (func.coalesce(func.sum(table.c[name]), 0) for name in ("tokens", "micro_dollars"))
    tokens, micro_dollars = (cast(each, BigInteger) for each in sums)
    return select(tokens.label("tokens"), micro_dollars.label("micro_dollars"))
