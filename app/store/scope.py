"""What a principal may read and write, as SQL conditions. The one place that says so.

A member sees what it owns, and reads agents that are shared in its tenant; an admin sees everything
of its tenant. What lies outside matches no row, which is how it comes to be 404.
"""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import ColumnElement, Table, and_, or_, select

from app.domain.principals import Principal
from app.store.tables import agents, sessions, users

# `Scope.session` for queries that go past SQLAlchemy: of a table `s`, with `Scope.as_values`.
SESSION_AS_SQL = "s.tenant_id = %(tenant)s AND (%(all)s OR s.owner_id = %(user)s)"


class Scope:
    """The rows of one principal. No method takes a tenant: it follows from who asks."""

    def __init__(self, principal: Principal) -> None:
        self.principal = principal
        self.tenant_id: UUID = principal.tenant_id
        self.user_id: UUID = principal.user_id

    def in_tenant(self, table: Table) -> ColumnElement[bool]:
        """Rows of the principal's tenant. Alone it is enough only for what all may see."""
        return table.c.tenant_id == self.tenant_id

    def owned(self, table: Table, owner: str = "owner_id") -> ColumnElement[bool]:
        """Rows that the principal owns; an admin owns all of its tenant."""
        if self.principal.is_admin:
            return self.in_tenant(table)
        return and_(self.in_tenant(table), table.c[owner] == self.user_id)

    def own_alone(self, table: Table) -> ColumnElement[bool]:
        """Rows of the principal itself, whatever its role."""
        return and_(self.in_tenant(table), table.c.user_id == self.user_id)

    def user(self) -> ColumnElement[bool]:
        """Users that the principal may see: itself, for an admin all."""
        return self.owned(users, "id")

    def readable_agent(self) -> ColumnElement[bool]:
        """Agents that it may read and use."""
        return or_(self.owned(agents), and_(self.in_tenant(agents), agents.c.shared))

    def writable_agent(self) -> ColumnElement[bool]:
        """Agents that it may change."""
        return self.owned(agents)

    def usable_agent(self) -> ColumnElement[bool]:
        """Agents that it may read, or that one of its sessions has: those go on working."""
        used = select(sessions.c.agent_id).where(self.session())
        return or_(self.readable_agent(), and_(self.in_tenant(agents), agents.c.id.in_(used)))

    def session(self) -> ColumnElement[bool]:
        """Sessions that it may read and write."""
        return self.owned(sessions)

    def as_values(self) -> dict[str, object]:
        """The values of `SESSION_AS_SQL`."""
        return {
            "tenant": str(self.tenant_id),
            "user": str(self.user_id),
            "all": self.principal.is_admin,
        }

    def of_session(self, table: Table) -> ColumnElement[bool]:
        """Rows that belong to such a session."""
        if self.principal.is_admin:
            return self.in_tenant(table)
        mine = select(sessions.c.id).where(self.session())
        return and_(self.in_tenant(table), table.c.session_id.in_(mine))

    def of_agent(self, table: Table, agent: ColumnElement[bool]) -> ColumnElement[bool]:
        """Rows that belong to an agent for which `agent` holds."""
        return and_(self.in_tenant(table), table.c.agent_id.in_(select(agents.c.id).where(agent)))
