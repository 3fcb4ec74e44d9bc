"""Audited actions. Rows are added and read, never changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, insert, select

from app.domain.audit import Action, AuditEvent, Origin, Outcome
from app.domain.ids import new_id
from app.domain.pages import Page
from app.store.repository import Repository, page_by_id
from app.store.scope import Scope
from app.store.tables import audit_events

_ADD = insert(audit_events)
_COLUMNS = [audit_events.c[field.name] for field in fields(AuditEvent)]


class Audit(Repository):
    """What the principal has done; an admin's is what anybody in the tenant has done."""

    def __init__(self, connection: Connection, scope: Scope, origin: Origin) -> None:
        super().__init__(connection, scope)
        self._origin = origin

    def add(
        self,
        action: Action,
        target_kind: str,
        target_id: UUID | str,
        detail: Mapping[str, Any],
        *,
        outcome: Outcome = "done",
    ) -> None:
        """Note an action of the principal's, in the same transaction as the change itself.

        `detail` holds ids, numbers and names of fields; no content, no secret.
        """
        principal = self._scope.principal
        row = {
            "tenant_id": principal.tenant_id,
            "id": new_id(),
            "user_id": principal.user_id,
            "key_id": principal.key_id,
            "action": action,
            "target_kind": target_kind,
            "target_id": str(target_id),
            "outcome": outcome,
            "detail": detail,
            "request_id": self._origin.request_id,
            "trace_id": self._origin.trace_id,
            "address": self._origin.address,
        }
        self._connection.execute(_ADD, row)

    def page(
        self, after: UUID | None, limit: int, *, action: str | None = None
    ) -> Page[AuditEvent]:
        """Actions, newest first."""
        found = select(*_COLUMNS).where(self._scope.owned(audit_events, "user_id"))
        if after is not None:
            found = found.where(audit_events.c.id < after)
        if action is not None:
            found = found.where(audit_events.c.action == action)
        rows = self._rows(found.order_by(audit_events.c.id.desc()).limit(limit + 1))
        return page_by_id(rows, limit, _event)


class AllAudit:
    """What somebody with access to the server did to any tenant: `hango admin`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(
        self,
        tenant_id: UUID,
        action: Action,
        target_kind: str,
        target_id: UUID | str,
        detail: Mapping[str, Any],
    ) -> None:
        """Note it, without a user or key."""
        self._connection.execute(
            insert(audit_events).values(
                tenant_id=tenant_id,
                id=new_id(),
                action=action,
                target_kind=target_kind,
                target_id=str(target_id),
                outcome="done",
                detail=detail,
            )
        )


def _event(row: Row[Any]) -> AuditEvent:
    return AuditEvent(**{**row._mapping, "action": Action(row.action)})
