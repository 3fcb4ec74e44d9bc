"""Sums over usage records, each by one statement."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Date,
    Double,
    Select,
    Text,
    and_,
    cast,
    func,
    select,
)

from app.domain.ids import rfc3339
from app.domain.usage_reports import EstimateRow, GroupBy, UsageRow
from app.store.repository import Repository
from app.store.tables import agents, usage_records

_KEYS: dict[GroupBy, ColumnElement[Any]] = {
    GroupBy.PURPOSE: usage_records.c.purpose,
    GroupBy.AGENT: cast(usage_records.c.agent_id, Text),
    GroupBy.MODEL: usage_records.c.model,
    GroupBy.DAY: cast(cast(func.timezone("UTC", usage_records.c.created_at), Date), Text),
}

_TOKENS = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")


class UsageReports(Repository):
    """What the principal has used; for an admin, what anybody in the tenant has."""

    def rows(
        self, by: GroupBy, since: datetime | None = None, until: datetime | None = None
    ) -> list[UsageRow]:
        """The calls from `since` on and before `until`: days in their order, others by cost."""
        key = _KEYS[by].label("key")
        figures = [
            func.count().label("calls"),
            *(_sum(usage_records.c[name]).label(name) for name in _TOKENS),
            _sum(usage_records.c.cost_micro_dollars).label("cost_micro_dollars"),
            (func.count() - func.count(usage_records.c.cost_micro_dollars)).label("unpriced_calls"),
        ]
        found = select(key, *figures).where(self._within(since, until))
        if by is GroupBy.AGENT:
            found = found.add_columns(agents.c.name).outerjoin_from(
                usage_records, agents, self._agent()
            )
            found = found.group_by(key, agents.c.name)
        else:
            found = found.group_by(key)
        dearest = [] if by is GroupBy.DAY else [found.selected_columns.cost_micro_dollars.desc()]
        return [UsageRow(**row._mapping) for row in self._rows(found.order_by(*dearest, key))]

    def estimates(
        self, since: datetime | None = None, until: datetime | None = None
    ) -> list[EstimateRow]:
        """How well the input of calls was estimated, by model and estimator."""
        found = self._rows(_estimates().where(self._within(since, until)))
        return [EstimateRow(**row._mapping) for row in found]

    def _within(self, since: datetime | None, until: datetime | None) -> ColumnElement[bool]:
        found = self._scope.owned(usage_records, "user_id")
        if since is not None:
            found = and_(found, usage_records.c.created_at >= rfc3339(since))
        if until is not None:
            found = and_(found, usage_records.c.created_at < rfc3339(until))
        return found

    def _agent(self) -> ColumnElement[bool]:
        same = and_(
            agents.c.tenant_id == usage_records.c.tenant_id,
            agents.c.id == usage_records.c.agent_id,
        )
        return and_(same, self._scope.usable_agent())


class AllUsageReports:
    """What was used in every tenant."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def estimates(self, since: datetime) -> list[EstimateRow]:
        """How well the input of calls was estimated, by model and estimator."""
        found = _estimates().where(usage_records.c.created_at >= rfc3339(since))
        return [EstimateRow(**row._mapping) for row in self._connection.execute(found)]


def _estimates() -> Select[Any]:
    columns = usage_records.c
    billed = cast(
        sum((func.coalesce(columns[name], 0) for name in _TOKENS[1:3]), columns.input_tokens),
        BigInteger,
    )
    off = func.abs(columns.estimated_tokens - billed) / cast(billed, Double)
    return (
        select(
            columns.model,
            columns.estimator,
            func.count().label("calls"),
            _sum(billed).label("billed_tokens"),
            _sum(columns.estimated_tokens).label("estimated_tokens"),
            func.avg(off).label("mean_error"),
            func.max(off).label("largest_error"),
        )
        .where(
            columns.outcome == "succeeded",
            columns.estimated_tokens.is_not(None),
            columns.estimator.is_not(None),
            billed > 0,
        )
        .group_by(columns.model, columns.estimator)
        .order_by(columns.model, columns.estimator)
    )


def _sum(column: ColumnElement[Any]) -> ColumnElement[int]:
    return cast(func.coalesce(func.sum(column), 0), BigInteger)
