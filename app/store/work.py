"""Work that workers claim: kept by a lease, settled once. What the tables of runs and tries share.

What a worker writes goes through `hold` first: the row is locked, and is still its own. All times
are the database's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, fields
from datetime import timedelta
from functools import cache
from typing import Any, ClassVar, Generic, TypeVar, cast
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Connection,
    Interval,
    Row,
    Select,
    Table,
    Update,
    Uuid,
    and_,
    any_,
    case,
    func,
    literal,
    or_,
    select,
    true,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY

from app.domain.pages import Page
from app.domain.principals import Principal, Role
from app.domain.work import MAX_STARTS, WORKER_LOST, Claimed, Ending, Held, Status, Work
from app.errors import WorkLost
from app.store.hot import Hot, HotSystem, parameter
from app.store.repository import Repository, page_by_id
from app.store.scope import Scope
from app.store.tables import api_keys, users

W = TypeVar("W", bound=Work)

_DONE: Mapping[str, Any] = {
    "lease_until": None,
    "call_started_at": None,
    "loaded": None,
    "finished_at": func.clock_timestamp(),
}

_GIVEN = Held(parameter("id"), parameter("attempt"))


class WorkOf(Repository, Generic[W]):
    """The rows of the principal's sessions."""

    table: ClassVar[Table]
    kind: type[W]

    def get(self, work_id: UUID) -> W:
        """Raises NotFound."""
        by_id = _by_id(self.table, cast(Any, self.kind))
        return self._made(self._hot_one(by_id, id=work_id))

    def among(self, ids: Collection[UUID]) -> list[W]:
        """Those of them that are there, in any order."""
        by_ids = _by_ids(self.table, cast(Any, self.kind))
        return [self._made(row) for row in self._hot(by_ids, ids=list(ids))]

    def page(self, session_id: UUID, after: UUID | None, limit: int) -> Page[W]:
        """Those of the session, newest first."""
        found = self._select().where(self.table.c.session_id == session_id)
        if after is not None:
            found = found.where(self.table.c.id < after)
        rows = self._rows(found.order_by(self.table.c.id.desc()).limit(limit + 1))
        return page_by_id(rows, limit, self._made)

    def cancel(self, work_id: UUID) -> W:
        """End what is queued, ask what is running to end, leave what has ended. Raises NotFound."""
        columns = self.table.c
        queued = columns.status == Status.QUEUED
        changed = (
            update(self.table)
            .where(self._scope.of_session(self.table), columns.id == work_id, is_open(self.table))
            .values(
                status=case((queued, Status.CANCELLED.value), else_=columns.status),
                loaded=case((queued, None), else_=columns.loaded),
                finished_at=case((queued, func.clock_timestamp())),
                cancel_requested_at=func.coalesce(columns.cancel_requested_at, func.now()),
            )
            .returning(*columns_of(self.table, self.kind))
        )
        row = self._first(changed)
        return self.get(work_id) if row is None else self._made(row)

    def hold(self, held: Held) -> None:
        """Lock the row for a write of the worker that has claimed it.

        Raises:
            WorkLost: it was settled, or another worker has it.
        """
        if self._hot_first(_lock_held(self.table), id=held.id, attempt=held.attempt) is None:
            raise WorkLost

    def _change(self, change: Hot[Update], held: Held, **values: Any) -> None:
        """Write what the worker has to write that has claimed the row; see `change_held`.

        Raises:
            WorkLost: it was settled, or another worker has it.
        """
        if not self._hot_write(change, id=held.id, attempt=held.attempt, **values):
            raise WorkLost

    def _select(self) -> Select[Any]:
        return select(*columns_of(self.table, self.kind)).where(self._scope.of_session(self.table))

    def _made(self, row: Row[Any]) -> W:
        return made(self.kind, row)


class AllWork(Generic[W]):
    """The rows of every tenant: for workers, who are given nothing but an id, and for sweeps."""

    table: ClassVar[Table]
    kind: type[W]
    # How long after its deadline a claim can last at most; None: as long as it is renewed.
    grace: ClassVar[timedelta | None] = None
    # What may be queued again at all, when nothing was under way for it.
    resumable: ClassVar[ColumnElement[bool]] = true()

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def claim(
        self, work_id: UUID, *, worker: str, lease: timedelta, timeout: timedelta
    ) -> Claimed[W] | None:
        """Take what is queued; None when it is not there to be taken.

        `timeout` counts from the first claim: what is taken up again gets no new time.
        """
        taken = _claim(self.table, cast(Any, self.kind), self.grace)
        row = taken.execute(
            self._connection, id=work_id, worker=worker, lease=lease, timeout=timeout
        ).first()
        if row is None:
            return None
        work = made(self.kind, row)
        owner = Principal(
            tenant_id=row.tenant_id, user_id=work.owner_id, role=Role(row.role), key_id=work.key_id
        )
        return claimed(work, row, owner, is_allowed=row.is_allowed)

    def renew(self, held: Iterable[Held], lease: timedelta) -> dict[Held, bool]:
        """Those of the claims that are still good, from now on for `lease` more.

        The value says whether somebody has asked for it to be cancelled.
        """
        columns = self.table.c
        claims = [(each.id, each.attempt) for each in held]
        renewed = (
            update(self.table)
            .where(
                tuple_(columns.id, columns.attempt).in_(claims), columns.status == Status.RUNNING
            )
            .values(lease_until=_lease(self.grace, lease, columns.deadline_at))
            .returning(columns.id, columns.attempt, columns.cancel_requested_at)
        )
        return {
            Held(row.id, row.attempt): row.cancel_requested_at is not None
            for row in self._connection.execute(renewed)
        }

    def not_open_among(self, ids: Collection[UUID]) -> set[UUID]:
        """Those of them that have ended, or are not there."""
        if not ids:
            return set()
        found = _not_open(self.table).execute(self._connection, ids=list(ids))
        return set(found.scalars())

    def waiting(self, longer_than: timedelta, limit: int) -> list[UUID]:
        """What has been queued for long, the oldest first."""
        columns = self.table.c
        found = (
            select(columns.id)
            .where(columns.status == Status.QUEUED, columns.created_at < func.now() - longer_than)
            .order_by(columns.created_at)
            .limit(limit)
        )
        return list(self._connection.execute(found).scalars())

    def number_queued(self) -> int:
        """How many are queued."""
        queued = self.table.c.status == Status.QUEUED
        found = select(func.count()).select_from(self.table).where(queued)
        return int(self._connection.execute(found).scalar_one())

    def requeue_lost(self, limit: int) -> list[UUID]:
        """Queue again what its worker has left before anything was under way for it."""
        columns = self.table.c
        resumable = and_(
            self.resumable,
            columns.call_started_at.is_(None),
            columns.attempt < MAX_STARTS,
            columns.cancel_requested_at.is_(None),
        )
        queued = {"status": Status.QUEUED.value, "lease_until": None, "worker": None}
        return self._settle(self._lost(resumable, limit), queued)

    def fail_lost(self, limit: int) -> list[UUID]:
        """End all else whose worker is gone: `failed: worker_lost`, or as was asked for."""
        columns = self.table.c
        values = final(WORKER_LOST)
        asked = and_(columns.cancel_requested_at.isnot(None), columns.call_started_at.is_(None))
        for name in ("status", "error_code", "error_detail", "error_retryable"):
            otherwise = Status.CANCELLED.value if name == "status" else None
            values[name] = case((asked, otherwise), else_=literal(values[name], columns[name].type))
        return self._settle(self._lost(true(), limit), values)

    def _lost(self, condition: ColumnElement[bool], limit: int) -> Select[Any]:
        columns = self.table.c
        expired = and_(columns.status == Status.RUNNING, columns.lease_until < func.now())
        found = select(columns.tenant_id, columns.id).where(expired, condition).limit(limit)
        return found.with_for_update(skip_locked=True, key_share=True)

    def _settle(self, lost: Select[Any], values: Mapping[str, Any]) -> list[UUID]:
        keys = [(row.tenant_id, row.id) for row in self._connection.execute(lost)]
        if keys:
            these = tuple_(self.table.c.tenant_id, self.table.c.id).in_(keys)
            self._connection.execute(update(self.table).where(these).values(**values))
        return [work_id for _, work_id in keys]


def is_open(table: Table) -> ColumnElement[bool]:
    """Whether it has not ended."""
    return table.c.status.in_([Status.QUEUED, Status.RUNNING])


def columns_of(table: Table, kind: type[Work]) -> list[ColumnElement[Any]]:
    """The columns that a value of this kind is made of."""
    return [table.c[field.name] for field in fields(kind)]


def claimed_columns(table: Table, kind: type[Work]) -> list[ColumnElement[Any]]:
    """The columns that a `Claimed` is made of, but for who owns it."""
    left = func.extract("epoch", table.c.deadline_at - func.now()).label("seconds_left")
    return [*columns_of(table, kind), table.c.attempt, table.c.loaded, left]


def claimed(work: W, row: Row[Any], principal: Principal, *, is_allowed: bool = True) -> Claimed[W]:
    """What a worker goes by that has claimed this row, in the name of `principal`."""
    return Claimed(
        work=work,
        held=Held(work.id, row.attempt),
        principal=principal,
        seconds_left=float(row.seconds_left),
        loaded=row.loaded,
        is_allowed=is_allowed,
    )


def made(kind: type[W], row: Row[Any]) -> W:
    """A value out of a row that has these columns, and maybe others."""
    values = {field.name: row._mapping[field.name] for field in fields(kind)}
    return kind(**values | {"status": Status(values["status"])})


def final(ending: Ending) -> dict[str, Any]:
    """The columns of what has ended. What it went by is of no use any more."""
    return {**ended(ending), **_DONE}


def end_held(table: Table, *conditions: ColumnElement[bool], **more: Any) -> Hot[Update]:
    """Brings a row that is held to its final state, with the values of `ended`."""
    told = {field.name: parameter(field.name) for field in fields(Ending)}
    return change_held(table, *conditions, **{**more, **told, **_DONE})


def ended(ending: Ending) -> dict[str, Any]:
    """The values of `end_held`."""
    return asdict(ending) | {"status": ending.status.value}


def change_held(table: Table, *conditions: ColumnElement[bool], **values: Any) -> Hot[Update]:
    """A write to a row that its worker still holds. A write locks the row as `hold` does."""
    return Hot(
        lambda scope: (
            update(table).where(*is_held(table, scope, _GIVEN), *conditions).values(**values)
        )
    )


@cache
def _by_id(table: Table, kind: type[Work]) -> Hot[Select[Any]]:
    return Hot(
        lambda scope: select(*columns_of(table, kind)).where(
            scope.of_session(table), table.c.id == parameter("id")
        )
    )


@cache
def _by_ids(table: Table, kind: type[Work]) -> Hot[Select[Any]]:
    these = table.c.id == any_(parameter("ids", ARRAY(Uuid)))
    return Hot(lambda scope: select(*columns_of(table, kind)).where(scope.of_session(table), these))


@cache
def _not_open(table: Table) -> HotSystem[Select[Any]]:
    given = func.unnest(parameter("ids", ARRAY(Uuid)), type_=Uuid).column_valued("given")
    same = select(table.c.id).where(table.c.id == given, is_open(table))
    return HotSystem(lambda: select(given).where(~same.exists()))


@cache
def _lock_held(table: Table) -> Hot[Select[Any]]:
    return Hot(
        lambda scope: (
            select(table.c.id).where(*is_held(table, scope, _GIVEN)).with_for_update(key_share=True)
        )
    )


def is_held(table: Table, scope: Scope, held: Held) -> tuple[ColumnElement[bool], ...]:
    """Whether it is the principal's, and still this worker's."""
    return (
        scope.of_session(table),
        table.c.id == held.id,
        table.c.attempt == held.attempt,
        table.c.status == Status.RUNNING.value,
    )


@cache
def _claim(table: Table, kind: type[Work], grace: timedelta | None) -> HotSystem[Any]:
    columns = table.c
    lease, timeout = (parameter(name, Interval()) for name in ("lease", "timeout"))
    deadline = func.coalesce(columns.deadline_at, func.now() + timeout)
    key = select(api_keys.c.id).where(
        api_keys.c.tenant_id == columns.tenant_id,
        api_keys.c.id == columns.key_id,
        api_keys.c.revoked_at.is_(None),
        or_(api_keys.c.expires_at.is_(None), api_keys.c.expires_at > func.now()),
    )
    is_allowed = and_(users.c.disabled_at.is_(None), or_(columns.key_id.is_(None), key.exists()))
    return HotSystem(
        lambda: (
            update(table)
            .where(
                columns.id == parameter("id"),
                columns.status == Status.QUEUED.value,
                columns.attempt < MAX_STARTS,
                users.c.tenant_id == columns.tenant_id,
                users.c.id == columns.owner_id,
            )
            .values(
                status=Status.RUNNING.value,
                attempt=columns.attempt + 1,
                worker=parameter("worker"),
                lease_until=_lease(grace, lease, deadline),
                started_at=func.coalesce(columns.started_at, func.now()),
                deadline_at=deadline,
            )
            .returning(
                *claimed_columns(table, kind),
                columns.tenant_id,
                users.c.role,
                is_allowed.label("is_allowed"),
            )
        )
    )


def _lease(grace: timedelta | None, lease: Any, deadline: ColumnElement[Any]) -> ColumnElement[Any]:
    until: ColumnElement[Any] = func.now() + lease
    if grace is None:
        return until
    return func.least(until, deadline + literal(grace, Interval))
