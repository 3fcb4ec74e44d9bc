"""Counts of messages, brought up to date across tenants when an estimator has become another."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Connection, bindparam, select, update

from app.domain.counts import NewCount, StaleCount
from app.store.tables import agents, messages, sessions

_COLUMNS = [messages.c[name] for name in StaleCount.__struct_fields__]


class AllCounts:
    """The stored counts of every tenant's messages."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def models(self) -> dict[UUID, str]:
        """Every agent's model."""
        return {
            row.id: row.model
            for row in self._connection.execute(select(agents.c.id, agents.c.model))
        }

    def stale(self, agent_id: UUID, counted_by: str, limit: int) -> list[StaleCount]:
        """Messages of the agent's sessions that `counted_by` has not counted."""
        of_agent = messages.join(
            sessions,
            (sessions.c.tenant_id == messages.c.tenant_id)
            & (sessions.c.id == messages.c.session_id),
        )
        found = (
            select(*_COLUMNS)
            .select_from(of_agent)
            .where(
                sessions.c.agent_id == agent_id,
                messages.c.counted_by.is_distinct_from(counted_by),
            )
            .limit(limit)
        )
        return [StaleCount(*row) for row in self._connection.execute(found)]

    def store(self, counted_by: str, counts: Sequence[NewCount]) -> None:
        """Store counts: the one change that rows of messages know."""
        if not counts:
            return
        same = (
            (messages.c.tenant_id == bindparam("of_tenant"))
            & (messages.c.session_id == bindparam("of_session"))
            & (messages.c.seq == bindparam("number"))
        )
        changed = update(messages).where(same).values(tokens=bindparam("count"))
        rows = [
            {
                "of_tenant": each.tenant_id,
                "of_session": each.session_id,
                "number": each.seq,
                "count": each.tokens,
            }
            for each in counts
        ]
        self._connection.execute(changed.values(counted_by=counted_by), rows)
