"""Figures over all tenants, for operators. Each is cheap however much there is."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from sqlalchemy import Connection, Table, func, select

from app.domain.measures import OpenWork, Stored
from app.domain.work import Status
from app.store.tables import context_overrides, quota_days, quota_reservations, runs, tries

_OPEN = [each.value for each in Status if not each.is_final]


class AllMeasures:
    """What is to be done and what was done, in every tenant."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def stored(self) -> Stored:
        """All of it."""
        sums = (func.coalesce(func.sum(quota_days.c[n]), 0) for n in ("tokens", "micro_dollars"))
        tokens, micro_dollars = self._connection.execute(select(*sums)).one()
        return Stored(
            open_work=[*self._open("run", runs), *self._open("try", tries)],
            calls_under_way=self._calls_under_way(),
            tokens=int(tokens),
            micro_dollars=int(micro_dollars),
            overrides=self.overrides(),
        )

    def overrides(self) -> dict[UUID, int]:
        """How many overrides each tenant has in force."""
        column = context_overrides.c.tenant_id
        found = select(column, func.count()).group_by(column)
        return {row[0]: row[1] for row in self._connection.execute(found)}

    def _open(self, kind: str, table: Table) -> Iterator[OpenWork]:
        age = func.extract("epoch", func.now() - func.min(table.c.created_at))
        found = (
            select(table.c.status, func.count(), age)
            .where(table.c.status.in_(_OPEN))
            .group_by(table.c.status)
        )
        counted = {status: (n, float(old)) for status, n, old in self._connection.execute(found)}
        for status in _OPEN:
            yield OpenWork(kind, status, *counted.get(status, (0, 0.0)))

    def _calls_under_way(self) -> int:
        held = quota_reservations.c
        live = (held.settled_at.is_(None), held.lease_until > func.now())
        found = select(func.count()).select_from(quota_reservations).where(*live)
        return int(self._connection.execute(found).scalar_one())
