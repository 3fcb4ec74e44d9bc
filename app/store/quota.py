"""Quotas: limits, what was used, what is reserved."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Connection,
    Row,
    Select,
    Table,
    Update,
    cast,
    delete,
    func,
    insert,
    select,
    true,
    update,
)
from sqlalchemy.dialects.postgresql import insert as upsert

from app.domain.ids import rfc3339
from app.domain.quota import Amount, Limits, Period, Quota, Reservation, Standing
from app.errors import NotFound
from app.store.hot import Hot, parameter
from app.store.repository import Repository
from app.store.scope import Scope
from app.store.tables import quota_days, quota_reservations, quotas


@Hot
def _own(scope: Scope) -> Select[Any]:
    columns = (quotas.c.period, quotas.c.tokens, quotas.c.micro_dollars)
    return select(*columns).where(scope.in_tenant(quotas))


@Hot
def _own_locked(scope: Scope) -> Select[Any]:
    columns = (quotas.c.period, quotas.c.tokens, quotas.c.micro_dollars)
    return select(*columns).where(scope.in_tenant(quotas)).with_for_update()


@Hot
def _standing(scope: Scope) -> Select[Any]:
    days, held = quota_days.c, quota_reservations.c
    used = _total(quota_days).where(
        scope.in_tenant(quota_days),
        days.day >= parameter("start"),
        days.day < parameter("end"),
    )
    reserved = _total(quota_reservations).where(
        scope.in_tenant(quota_reservations),
        held.settled_at.is_(None),
        held.lease_until > parameter("at"),
    )
    return select(used.subquery().join(reserved.subquery(), true()))


_RESERVE = insert(quota_reservations)


@Hot
def _settle(scope: Scope) -> Update:
    return (
        update(quota_reservations)
        .where(
            scope.owned(quota_reservations, "user_id"),
            quota_reservations.c.id == parameter("id"),
            quota_reservations.c.settled_at.is_(None),
        )
        .values(settled_at=func.now())
    )


@Hot
def _spend(scope: Scope) -> Update:
    days = quota_days.c
    spent = {
        name: days[name] + parameter(name, BigInteger()) for name in ("tokens", "micro_dollars")
    }
    today = (scope.in_tenant(quota_days), days.day == parameter("day"))
    return update(quota_days).where(*today).values(**spent)


class Quotas(Repository):
    """The quota of the principal's tenant. All of its members use it up together."""

    def get(self) -> Quota:
        """What the tenant may use; unlimited where nobody set a limit."""
        return _quota(self._hot_first(_own))

    def put(self, quota: Quota) -> Quota:
        """Replace the limits. Raises NotFound when the principal is no admin."""
        if not self._scope.principal.is_admin:
            raise NotFound
        values = {
            "period": quota.period,
            "tokens": quota.limits.tokens,
            "micro_dollars": quota.limits.micro_dollars,
        }
        new = upsert(quotas).values(tenant_id=self._scope.tenant_id, **values)
        self._connection.execute(
            new.on_conflict_do_update(index_elements=["tenant_id"], set_=values)
        )
        return quota

    def lock(self) -> Quota:
        """The same as `get`; where there are limits, nobody else reserves until `tx` ends."""
        return _quota(self._hot_first(_own_locked))

    def standing(self, quota: Quota, at: datetime) -> Standing:
        """How much of this quota was used and is reserved at this moment.

        One statement, and so one snapshot: a call that is being settled counts once.
        """
        row = self._hot_one(
            _standing,
            start=quota.period.start(at).date(),
            end=quota.period.end(at).date(),
            at=rfc3339(at),
        )
        return Standing(quota, at, Amount(row[0], row[1]), Amount(row[2], row[3]))

    def reserve(self, call_id: UUID, amount: Amount, lease_until: datetime) -> Reservation:
        """Hold so much back. Whether it is left was asked before, under the lock."""
        made = Reservation(call_id, amount, rfc3339(lease_until))
        self._connection.execute(
            _RESERVE,
            {
                "tenant_id": self._scope.tenant_id,
                "user_id": self._scope.user_id,
                "id": made.id,
                "tokens": amount.tokens,
                "micro_dollars": amount.micro_dollars,
                "lease_until": made.lease_until,
            },
        )
        return made

    def settle(self, reservation_id: UUID, spent: Amount, on: date) -> bool:
        """Let what was spent take the place of the reservation, also of one past its lease.

        False, and nothing is counted: it was settled before, or is not the principal's.
        """
        if not self._hot_write(_settle, id=reservation_id):
            return False
        if spent != Amount():
            self._add(spent, on)
        return True

    def _add(self, spent: Amount, on: date) -> None:
        amounts = {"tokens": spent.tokens, "micro_dollars": spent.micro_dollars}
        if self._hot_write(_spend, day=on, **amounts):
            return
        first = upsert(quota_days).values(tenant_id=self._scope.tenant_id, day=on, **amounts)
        days = quota_days.c  # another call may have been the first of this day meanwhile
        more = {name: days[name] + first.excluded[name] for name in amounts}
        self._connection.execute(
            first.on_conflict_do_update(index_elements=["tenant_id", "day"], set_=more)
        )


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


def _quota(row: Row[Any] | None) -> Quota:
    return Quota() if row is None else Quota(Period(row[0]), Limits(row[1], row[2]))
