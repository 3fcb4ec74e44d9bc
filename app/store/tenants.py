"""Tenants."""

from __future__ import annotations

from sqlalchemy import Connection, insert, select, update

from app.domain.tenants import Tenant
from app.errors import NotFound
from app.store.repository import Repository
from app.store.tables import tenants


class Tenants(Repository):
    """The principal's tenant."""

    def current(self) -> Tenant:
        """The tenant that the principal is in."""
        own = select(tenants).where(tenants.c.id == self._scope.tenant_id)
        return Tenant(**self._one(own)._mapping)

    def update(self, *, trace_llm_content: bool) -> Tenant:
        """Change its settings. Raises NotFound when the principal is no admin."""
        if not self._scope.principal.is_admin:
            raise NotFound
        own = update(tenants).where(tenants.c.id == self._scope.tenant_id)
        changed = own.values(trace_llm_content=trace_llm_content).returning(tenants)
        return Tenant(**self._one(changed)._mapping)


class AllTenants:
    """Every tenant, for `hango admin`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, tenant: Tenant) -> Tenant:
        """Store a new tenant."""
        values = {
            "id": tenant.id,
            "name": tenant.name,
            "trace_llm_content": tenant.trace_llm_content,
        }
        row = self._connection.execute(insert(tenants).values(values).returning(tenants)).one()
        return Tenant(**row._mapping)

    def all(self) -> list[Tenant]:
        """Every tenant, oldest first."""
        rows = self._connection.execute(select(tenants).order_by(tenants.c.id))
        return [Tenant(**row._mapping) for row in rows]
