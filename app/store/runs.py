"""Runs: claimed by a worker, kept by a lease, settled once.

What a worker writes goes through `hold` first: the row is locked, and is still its own. All times
are the database's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Row,
    Select,
    and_,
    case,
    func,
    literal,
    select,
    true,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY

from app.domain.pages import Page
from app.domain.principals import Principal, Role
from app.domain.runs import MAX_STARTS, WORKER_LOST, Claimed, Ending, Held, Run, Status
from app.errors import RunLost
from app.store.repository import Repository, insert_where, page_by_id
from app.store.tables import runs, sessions, users

_COLUMNS = [runs.c[field.name] for field in fields(Run)]
_OPEN = runs.c.status.in_([Status.QUEUED, Status.RUNNING])


class Runs(Repository):
    """The runs of the principal's sessions."""

    def add(
        self, run_id: UUID, session_id: UUID, agent_id: UUID, max_turns: int | None, seq: int
    ) -> Run:
        """Store a queued run that begins with message `seq`. Raises NotFound."""
        values = {
            "tenant_id": self._scope.tenant_id,
            "id": run_id,
            "session_id": session_id,
            "agent_id": agent_id,
            "owner_id": self._scope.user_id,
            "key_id": self._scope.principal.key_id,
            "max_turns": max_turns,
            "seqs": [seq],
        }
        mine = select(sessions.c.id).where(self._scope.session(), sessions.c.id == session_id)
        return _run(self._one(insert_where(runs, values, mine.exists()).returning(*_COLUMNS)))

    def get(self, run_id: UUID) -> Run:
        """Raises NotFound."""
        return _run(self._one(self._select().where(runs.c.id == run_id)))

    def open_of(self, session_id: UUID) -> Run | None:
        """The session's run that has not ended."""
        row = self._first(self._select().where(runs.c.session_id == session_id, _OPEN))
        return None if row is None else _run(row)

    def page(self, session_id: UUID, after: UUID | None, limit: int) -> Page[Run]:
        """The session's runs, newest first."""
        found = self._select().where(runs.c.session_id == session_id)
        if after is not None:
            found = found.where(runs.c.id < after)
        return page_by_id(
            self._rows(found.order_by(runs.c.id.desc()).limit(limit + 1)), limit, _run
        )

    def cancel(self, run_id: UUID) -> Run:
        """End a queued run, ask a running one to end, and leave an ended one. Raises NotFound."""
        queued = runs.c.status == Status.QUEUED
        changed = (
            update(runs)
            .where(self._scope.of_session(runs), runs.c.id == run_id, _OPEN)
            .values(
                status=case((queued, Status.CANCELLED.value), else_=runs.c.status),
                finished_at=case((queued, func.clock_timestamp())),
                cancel_requested_at=func.coalesce(runs.c.cancel_requested_at, func.now()),
            )
            .returning(*_COLUMNS)
        )
        row = self._first(changed)
        return self.get(run_id) if row is None else _run(row)

    def hold(self, held: Held, turns: int | None = None) -> None:
        """Lock the run for a write of the worker that has claimed it.

        With `turns`, only while it has that many behind it: a turn that is written again, since
        nobody knows whether it was, is not stored twice.

        Raises:
            RunLost: it was settled, another worker has it, or the turn is stored.
        """
        found = select(runs.c.id).where(*self._held(held)).with_for_update(key_share=True)
        if turns is not None:
            found = found.where(runs.c.turns == turns)
        if self._first(found) is None:
            raise RunLost

    def keep_loaded(self, held: Held, loaded: Mapping[str, Any]) -> None:
        """Keep what the run goes by, for the case that another worker has to go on."""
        self._change(held, loaded=loaded)

    def begin_call(self, held: Held) -> None:
        """From now on a call, or a tool, may be under way: nobody may repeat it."""
        self._change(held, call_started_at=func.clock_timestamp())

    def end_turn(self, held: Held, seqs: Sequence[int]) -> None:
        """Count a turn whose messages are stored; nothing is under way any more."""
        written = runs.c.seqs.op("||")(literal(list(seqs), ARRAY(Integer)))
        self._change(held, turns=runs.c.turns + 1, seqs=written, call_started_at=None)

    def end(self, held: Held, ending: Ending) -> None:
        """Bring the run to its final state."""
        self._change(held, **_final(ending))

    def _change(self, held: Held, **values: Any) -> None:
        self._connection.execute(update(runs).where(*self._held(held)).values(**values))

    def _held(self, held: Held) -> tuple[ColumnElement[bool], ...]:
        return (self._scope.of_session(runs), _is(held))

    def _select(self) -> Select[Any]:
        return select(*_COLUMNS).where(self._scope.of_session(runs))


class AllRuns:
    """The runs of every tenant: for workers, who are given nothing but an id, and for sweeps."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def claim(
        self, run_id: UUID, *, worker: str, lease: timedelta, timeout: timedelta
    ) -> Claimed | None:
        """Take a queued run; None when it is not there to be taken.

        `timeout` counts from the first claim: a run that is taken up again gets no new time.
        """
        deadline = func.coalesce(runs.c.deadline_at, func.now() + timeout)
        claimed = (
            update(runs)
            .where(
                runs.c.id == run_id,
                runs.c.status == Status.QUEUED,
                runs.c.attempt < MAX_STARTS,
                users.c.tenant_id == runs.c.tenant_id,
                users.c.id == runs.c.owner_id,
            )
            .values(
                status=Status.RUNNING.value,
                attempt=runs.c.attempt + 1,
                worker=worker,
                lease_until=func.now() + lease,
                started_at=func.coalesce(runs.c.started_at, func.now()),
                deadline_at=deadline,
            )
            .returning(
                *_COLUMNS,
                runs.c.tenant_id,
                runs.c.attempt,
                runs.c.loaded,
                users.c.role,
                func.extract("epoch", runs.c.deadline_at - func.now()).label("seconds_left"),
            )
        )
        row = self._connection.execute(claimed).first()
        return None if row is None else _claimed(row)

    def renew(self, held: Iterable[Held], lease: timedelta) -> dict[Held, bool]:
        """Those of the claims that are still good, from now on for `lease` more.

        The value says whether somebody has asked for the run to be cancelled.
        """
        claims = [(each.run_id, each.attempt) for each in held]
        renewed = (
            update(runs)
            .where(tuple_(runs.c.id, runs.c.attempt).in_(claims), runs.c.status == Status.RUNNING)
            .values(lease_until=func.now() + lease)
            .returning(runs.c.id, runs.c.attempt, runs.c.cancel_requested_at)
        )
        return {
            Held(row.id, row.attempt): row.cancel_requested_at is not None
            for row in self._connection.execute(renewed)
        }

    def waiting(self, longer_than: timedelta, limit: int) -> list[UUID]:
        """Runs that have been queued for long, the oldest first."""
        found = (
            select(runs.c.id)
            .where(runs.c.status == Status.QUEUED, runs.c.created_at < func.now() - longer_than)
            .order_by(runs.c.created_at)
            .limit(limit)
        )
        return list(self._connection.execute(found).scalars())

    def requeue_lost(self, limit: int) -> list[UUID]:
        """Queue again the runs whose worker is gone, and which nothing was under way for."""
        resumable = and_(
            runs.c.call_started_at.is_(None),
            runs.c.attempt < MAX_STARTS,
            runs.c.cancel_requested_at.is_(None),
        )
        queued = {"status": Status.QUEUED.value, "lease_until": None, "worker": None}
        return self._settle(self._lost(resumable, limit), queued)

    def fail_lost(self, limit: int) -> list[UUID]:
        """End the other runs whose worker is gone: `failed: worker_lost`, or as was asked for."""
        final = _final(WORKER_LOST)
        asked = and_(runs.c.cancel_requested_at.isnot(None), runs.c.call_started_at.is_(None))
        for name in ("status", "error_code", "error_detail", "error_retryable"):
            otherwise = Status.CANCELLED.value if name == "status" else None
            final[name] = case((asked, otherwise), else_=literal(final[name], runs.c[name].type))
        return self._settle(self._lost(true(), limit), final)

    def _lost(self, condition: ColumnElement[bool], limit: int) -> Select[Any]:
        expired = and_(runs.c.status == Status.RUNNING, runs.c.lease_until < func.now())
        found = select(runs.c.tenant_id, runs.c.id).where(expired, condition).limit(limit)
        return found.with_for_update(skip_locked=True, key_share=True)

    def _settle(self, lost: Select[Any], values: Mapping[str, Any]) -> list[UUID]:
        keys = [(row.tenant_id, row.id) for row in self._connection.execute(lost)]
        if keys:
            changed = update(runs).where(tuple_(runs.c.tenant_id, runs.c.id).in_(keys))
            self._connection.execute(changed.values(**values))
        return [run_id for _, run_id in keys]


def _is(held: Held) -> ColumnElement[bool]:
    return and_(
        runs.c.id == held.run_id,
        runs.c.attempt == held.attempt,
        runs.c.status == Status.RUNNING,
    )


def _final(ending: Ending) -> dict[str, Any]:
    """The columns of an ended run. What it went by is of no use any more."""
    done = {"lease_until": None, "call_started_at": None, "loaded": None}
    values = asdict(ending) | {"status": ending.status.value}
    return values | done | {"finished_at": func.clock_timestamp()}


def _run(row: Row[Any]) -> Run:
    found = row._mapping
    values = {field.name: found[field.name] for field in fields(Run)}
    return Run(**values | {"status": Status(values["status"])})


def _claimed(row: Row[Any]) -> Claimed:
    run = _run(row)
    return Claimed(
        run=run,
        held=Held(run.id, row.attempt),
        principal=Principal(
            tenant_id=row.tenant_id, user_id=run.owner_id, role=Role(row.role), key_id=run.key_id
        ),
        seconds_left=float(row.seconds_left),
        loaded=row.loaded,
    )
