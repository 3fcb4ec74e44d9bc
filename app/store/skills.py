"""Skills of agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Integer, Row, Select, cast, delete, func, or_, select

from app.domain.ports import Skill
from app.errors import NotFound
from app.store.hot import Hot, parameter
from app.store.repository import Repository, insert_where
from app.store.scope import Scope
from app.store.tables import agents, skills

_COLUMNS = [skills.c[name] for name in Skill.__struct_fields__]
_CONTENT = ("description", "body", "allowed_tools")


@Hot
def _of_agent(scope: Scope) -> Select[Any]:
    mine = scope.of_agent(skills, scope.usable_agent())
    found = select(*_COLUMNS).where(mine, skills.c.agent_id == parameter("agent"))
    return found.order_by(skills.c.name)


class Skills(Repository):
    """The skills of agents: read with the agent, written by who may change it."""

    def of(self, agent_id: UUID) -> list[Skill]:
        """The agent's skills, by name; none for an agent that the principal cannot use."""
        return [_skill(row) for row in self._hot(_of_agent, agent=agent_id)]

    def get(self, agent_id: UUID, name: str) -> Skill:
        """Raises NotFound."""
        found = select(*_COLUMNS).where(
            self._scope.of_agent(skills, self._scope.usable_agent()),
            skills.c.agent_id == agent_id,
            skills.c.name == name,
        )
        return _skill(self._one(found))

    def put(
        self,
        agent_id: UUID,
        name: str,
        *,
        description: str,
        body: str,
        allowed_tools: Sequence[str] | None = None,
    ) -> Skill:
        """Write a skill; its version grows when something is different. Raises NotFound."""
        values = {
            "tenant_id": self._scope.tenant_id,
            "agent_id": agent_id,
            "name": name,
            "description": description,
            "body": body,
            "allowed_tools": None if allowed_tools is None else list(allowed_tools),
        }
        writable = select(agents.c.id).where(self._scope.writable_agent(), agents.c.id == agent_id)
        new = insert_where(skills, values, writable.exists())
        changed = or_(*(skills.c[each].is_distinct_from(new.excluded[each]) for each in _CONTENT))
        written = new.on_conflict_do_update(
            index_elements=list(skills.primary_key),
            set_={each: new.excluded[each] for each in _CONTENT}
            | {
                "version": skills.c.version + cast(changed, Integer),
                "updated_at": func.clock_timestamp(),
            },
        )
        return _skill(self._one(written.returning(*_COLUMNS)))

    def delete(self, agent_id: UUID, name: str) -> None:
        """Raises NotFound."""
        gone = delete(skills).where(
            self._scope.of_agent(skills, self._scope.writable_agent()),
            skills.c.agent_id == agent_id,
            skills.c.name == name,
        )
        if not self._connection.execute(gone).rowcount:
            raise NotFound


def _skill(row: Row[Any]) -> Skill:
    tools = row.allowed_tools
    return Skill(
        name=row.name,
        description=row.description,
        body=row.body,
        allowed_tools=None if tools is None else tuple(tools),
        version=row.version,
    )
