"""Ablations: rows that say what is left to do; held while the next tries are started."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import Connection, Row, Select, func, select, tuple_, update

from app.domain.ablation import CANCELLED, Ablation, Plans, Table
from app.domain.ids import rfc3339
from app.domain.pages import Page
from app.domain.principals import Principal, Role
from app.domain.work import Status
from app.errors import Gone
from app.store.repository import Repository, insert_where, page_by_id
from app.store.tables import ablations, sessions, users

_FIELDS = [name for name in Ablation.__dataclass_fields__ if name != "table"]
_COLUMNS = [*(ablations.c[name] for name in _FIELDS), ablations.c.findings]


class Ablations(Repository):
    """The ablations of the principal's sessions."""

    def add(  # noqa: PLR0913 (what one row is made of)
        self,
        ablation_id: UUID,
        session_id: UUID,
        *,
        model: str,
        table: Table,
        plans: Plans,
        max_cost: int | None,
        expires_at: datetime,
    ) -> Ablation:
        """Store one of which nothing was started, and until when it is kept. Raises NotFound."""
        values = {
            "tenant_id": self._scope.tenant_id,
            "id": ablation_id,
            "session_id": session_id,
            "owner_id": self._scope.user_id,
            "key_id": self._scope.principal.key_id,
            "model": model,
            "max_cost_micro_dollars": max_cost,
            "findings": msgspec.to_builtins(table),
            "loaded": msgspec.to_builtins(plans),
            "expires_at": rfc3339(expires_at),
        }
        mine = select(sessions.c.id).where(self._scope.session(), sessions.c.id == session_id)
        added = insert_where(ablations, values, mine.exists())
        return _made(self._one(added.returning(*_COLUMNS)))

    def get(self, ablation_id: UUID) -> Ablation:
        """Raises NotFound, and Gone for one that was purged."""
        row = self._one(self._select().where(ablations.c.id == ablation_id))
        if row.expires_at is None:
            raise Gone("Results of ablations are kept for HANGO_TRY_RETENTION.")
        return _made(row)

    def page(self, session_id: UUID, after: UUID | None, limit: int) -> Page[Ablation]:
        """Those of the session, newest first."""
        found = self._select().where(
            ablations.c.session_id == session_id, ablations.c.expires_at.is_not(None)
        )
        if after is not None:
            found = found.where(ablations.c.id < after)
        rows = self._rows(found.order_by(ablations.c.id.desc()).limit(limit + 1))
        return page_by_id(rows, limit, _made)

    def hold(self, ablation_id: UUID) -> tuple[Ablation, Plans] | None:
        """Lock one that runs, so that nobody else carries it on; None when it has ended."""
        row = self._first(
            select(*_COLUMNS, ablations.c.loaded)
            .where(*self._running(ablation_id))
            .with_for_update(key_share=True)
        )
        return None if row is None else (_made(row), msgspec.convert(row.loaded, Plans))

    def ask_to_cancel(self, ablation_id: UUID) -> None:
        """Note that it is to end; it is held."""
        asked = func.coalesce(ablations.c.cancel_requested_at, func.now())
        self._change(ablation_id, cancel_requested_at=asked)

    def save(self, ablation: Ablation) -> Ablation:
        """Keep its table; it is held."""
        return self._change(ablation.id, findings=msgspec.to_builtins(ablation.table))

    def end(self, ablation: Ablation) -> Ablation:
        """Bring it to its final state: as it was stopped, or all done; it is held."""
        stopped = ablation.table.stopped
        status, code, detail = Status.SUCCEEDED, None, None
        if stopped is not None:
            is_cancelled = stopped.code == CANCELLED
            status = Status.CANCELLED if is_cancelled else Status.FAILED
            code, detail = (None, None) if is_cancelled else (stopped.code, stopped.message)
        return self._change(
            ablation.id,
            findings=msgspec.to_builtins(ablation.table),
            status=status.value,
            error_code=code,
            error_detail=detail,
            loaded=None,
            finished_at=func.clock_timestamp(),
        )

    def _change(self, ablation_id: UUID, **values: Any) -> Ablation:
        changed = update(ablations).where(*self._running(ablation_id)).values(**values)
        return _made(self._one(changed.returning(*_COLUMNS)))

    def _running(self, ablation_id: UUID) -> tuple[Any, ...]:
        is_running = ablations.c.status == Status.RUNNING
        return (self._scope.of_session(ablations), ablations.c.id == ablation_id, is_running)

    def _select(self) -> Select[Any]:
        return select(*_COLUMNS).where(self._scope.of_session(ablations))


class AllAblations:
    """The ablations of every tenant: for workers, who are given nothing but an id."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def owner(self, ablation_id: UUID) -> Principal | None:
        """In whose name it is carried on; None when it has ended."""
        found = select(
            ablations.c.tenant_id, ablations.c.owner_id, ablations.c.key_id, users.c.role
        ).where(
            ablations.c.id == ablation_id,
            ablations.c.status == Status.RUNNING,
            users.c.tenant_id == ablations.c.tenant_id,
            users.c.id == ablations.c.owner_id,
        )
        row = self._connection.execute(found).first()
        if row is None:
            return None
        return Principal(
            tenant_id=row.tenant_id, user_id=row.owner_id, role=Role(row.role), key_id=row.key_id
        )

    def running(self, limit: int) -> list[UUID]:
        """Those that have not ended, the oldest first."""
        found = select(ablations.c.id).where(ablations.c.status == Status.RUNNING)
        oldest = found.order_by(ablations.c.created_at).limit(limit)
        return list(self._connection.execute(oldest).scalars())

    def purge(self, limit: int) -> int:
        """Empty those whose time is over; how many.

        Their rows stay, without `expires_at`, so that who asks is told what became of them.
        """
        over = (
            select(ablations.c.tenant_id, ablations.c.id)
            .where(ablations.c.expires_at < func.now(), ablations.c.status != Status.RUNNING)
            .limit(limit)
        )
        emptied = (
            update(ablations)
            .where(tuple_(ablations.c.tenant_id, ablations.c.id).in_(over))
            .values(findings=msgspec.to_builtins(Table(steps=[])), expires_at=None)
        )
        return self._connection.execute(emptied).rowcount


def _made(row: Row[Any]) -> Ablation:
    values = {name: row._mapping[name] for name in _FIELDS}
    values["status"] = Status(values["status"])
    return Ablation(**values, table=msgspec.convert(row.findings, Table))
