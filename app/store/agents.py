"""Agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import Row, Select, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from app.domain.agents import Agent, Subagent
from app.domain.injections import Injection
from app.domain.pages import Page
from app.domain.sessions import Session
from app.errors import InUse, NotFound
from app.store.hot import Hot, parameter
from app.store.repository import Repository, breaks, containing, page_by_id
from app.store.scope import Scope
from app.store.tables import agents

_COLUMNS = [agents.c[field.name] for field in fields(Agent) if field.name in agents.c]
_MADE_THERE = {"version", "created_at", "updated_at"}
_CHANGEABLE = {column.name for column in _COLUMNS} - _MADE_THERE - {"id", "tenant_id", "owner_id"}


@Hot
def _usable(scope: Scope) -> Select[Any]:
    return select(*_COLUMNS).where(scope.usable_agent(), agents.c.id == parameter("agent"))


class Agents(Repository):
    """The principal's agents, and to read and use, those shared in its tenant."""

    def get(self, agent_id: UUID) -> Agent:
        """An agent to read and use. Raises NotFound."""
        mine = select(*_COLUMNS).where(self._scope.readable_agent(), agents.c.id == agent_id)
        return _agent(self._one(mine))

    def get_writable(self, agent_id: UUID) -> Agent:
        """An agent to change, held until the transaction ends.

        Raises NotFound, also for another member's shared agent.
        """
        mine = select(*_COLUMNS).where(self._scope.writable_agent(), agents.c.id == agent_id)
        return _agent(self._one(mine.with_for_update(key_share=True)))

    def used_by(self, session: Session) -> Agent:
        """The agent of a session, which stays usable there when it is no longer shared.

        In a helper's session it is the agent as that helper.
        """
        agent = _agent(self._hot_one(_usable, agent=session.agent_id))
        return agent if session.helper is None else agent.as_helper(session.helper)

    def lock(self, agent_id: UUID) -> Agent:
        """An agent to change, kept from others until the transaction ends. Raises NotFound."""
        mine = select(*_COLUMNS).where(self._scope.writable_agent(), agents.c.id == agent_id)
        return _agent(self._one(mine.with_for_update(of=agents)))

    def add(self, agent: Agent) -> Agent:
        """Store a new agent of the principal's own."""
        values = _stored(
            {
                column.name: getattr(agent, column.name)
                for column in _COLUMNS
                if column.name not in _MADE_THERE
            }
        )
        own = {"tenant_id": self._scope.tenant_id, "owner_id": self._scope.user_id}
        return _agent(self._one(insert(agents).values(values | own).returning(*_COLUMNS)))

    def update(self, agent_id: UUID, changes: Mapping[str, Any]) -> Agent:
        """Change fields by name; the version grows. Raises NotFound."""
        if unknown := changes.keys() - _CHANGEABLE:
            raise ValueError(f"No such fields: {sorted(unknown)}")
        changed = (
            update(agents)
            .where(self._scope.writable_agent(), agents.c.id == agent_id)
            .values(
                **_stored(changes), version=agents.c.version + 1, updated_at=func.clock_timestamp()
            )
            .returning(*_COLUMNS)
        )
        return _agent(self._one(changed))

    def delete(self, agent_id: UUID) -> None:
        """Remove an agent with its memory, skills and overrides.

        Raises:
            NotFound
            InUse: it has sessions.
        """
        gone = delete(agents).where(self._scope.writable_agent(), agents.c.id == agent_id)
        try:
            count = self._connection.execute(gone).rowcount
        except IntegrityError as error:
            if breaks(error, "fk_sessions_tenant_id_agent_id"):
                raise InUse("Delete the agent's sessions first.") from None
            raise
        if not count:
            raise NotFound

    def page(self, after: UUID | None, limit: int, query: str | None = None) -> Page[Agent]:
        """Agents to read and use, newest first; `query`: those whose name contains it."""
        found = select(*_COLUMNS).where(self._scope.readable_agent())
        if after is not None:
            found = found.where(agents.c.id < after)
        if query:
            found = found.where(agents.c.name.ilike(containing(query)))
        rows = self._rows(found.order_by(agents.c.id.desc()).limit(limit + 1))
        return page_by_id(rows, limit, _agent)


def _stored(values: Mapping[str, Any]) -> dict[str, Any]:
    stored = dict(values)
    if "subagents" in stored:
        stored["subagents"] = [asdict(each) for each in stored["subagents"]]
    if "injections" in stored:
        stored["injections"] = msgspec.to_builtins(stored["injections"])
    return stored


def _agent(row: Row[Any]) -> Agent:
    values = dict(row._mapping)
    values["system_blocks"] = tuple(values["system_blocks"])
    values["tools"] = tuple(values["tools"])
    values["injections"] = msgspec.convert(values["injections"], tuple[Injection, ...])
    values["subagents"] = tuple(subagent(each) for each in values["subagents"])
    return Agent(**values)


def subagent(stored: Mapping[str, Any]) -> Subagent:
    """A helper out of the JSON that is stored of it."""
    tools = stored["tools"]
    return Subagent(**{**stored, "tools": None if tools is None else tuple(tools)})
