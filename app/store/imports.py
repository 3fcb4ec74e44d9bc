"""Imports that were made."""

from __future__ import annotations

from dataclasses import fields
from typing import Any
from uuid import UUID

from sqlalchemy import Row, func, select

from app.domain.imports import ImportRecord
from app.errors import NotFound
from app.store.repository import Repository, insert_where
from app.store.tables import agents, imports, sessions

_COLUMNS = [imports.c[field.name] for field in fields(ImportRecord)]


class Imports(Repository):
    """The principal's own imports: an admin does not find those of its tenant's members here."""

    def find(self, fingerprint: str) -> ImportRecord | None:
        """What this file became when the principal imported it before."""
        row = self._first(
            select(*_COLUMNS).where(
                self._scope.in_tenant(imports),
                imports.c.owner_id == self._scope.user_id,
                imports.c.fingerprint == fingerprint,
            )
        )
        return None if row is None else _record(row)

    def of_source(self, source_session_id: str) -> list[ImportRecord]:
        """What earlier states of this source session became for the principal, newest first."""
        found = select(*_COLUMNS).where(
            self._scope.in_tenant(imports),
            imports.c.owner_id == self._scope.user_id,
            imports.c.source_session_id == source_session_id,
        )
        return [_record(row) for row in self._rows(found.order_by(imports.c.id.desc()))]

    def lock(self, fingerprint: str) -> None:
        """Let nobody else of this principal import the same file until the transaction ends."""
        name = f"import {self._scope.tenant_id} {self._scope.user_id} {fingerprint}"
        self._rows(select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0))))

    def add(self, record: ImportRecord) -> ImportRecord:
        """Remember an import. Raises NotFound for its agent or session."""
        values = {
            column.name: getattr(record, column.name)
            for column in _COLUMNS
            if column.name != "created_at"
        }
        values |= {"tenant_id": self._scope.tenant_id, "owner_id": self._scope.user_id}
        agent = select(agents.c.id).where(
            self._scope.usable_agent(), agents.c.id == record.agent_id
        )
        session = select(sessions.c.id).where(
            self._scope.session(), sessions.c.id == record.session_id
        )
        condition = agent.exists() & session.exists()
        return _record(self._one(insert_where(imports, values, condition).returning(*_COLUMNS)))

    def of(self, session_id: UUID) -> ImportRecord:
        """The import that a session came from. Raises NotFound when it came from none."""
        found = select(*_COLUMNS).where(
            self._scope.of_session(imports), imports.c.session_id == session_id
        )
        row = self._first(found)
        if row is None:
            raise NotFound
        return _record(row)


def _record(row: Row[Any]) -> ImportRecord:
    return ImportRecord(**row._mapping)
