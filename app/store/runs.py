"""Runs, and what of their life is theirs alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Integer, Row, func, insert, literal, select
from sqlalchemy.dialects.postgresql import ARRAY

from app.domain.runs import Run
from app.domain.work import Claimed, Ending, Held, Status
from app.store.hot import parameter
from app.store.repository import insert_where
from app.store.tables import runs, sessions
from app.store.work import (
    AllWork,
    WorkOf,
    change_held,
    claimed,
    claimed_columns,
    columns_of,
    end_held,
    ended,
    is_held,
    is_open,
)

_CLAIMED = claimed_columns(runs, Run)

_KEEP_LOADED = change_held(runs, loaded=parameter("loaded"))
_BEGIN_CALL = change_held(runs, call_started_at=func.clock_timestamp())
_TURN = {
    "turns": runs.c.turns + 1,
    "seqs": runs.c.seqs.op("||")(parameter("seqs", ARRAY(Integer))),
    "call_started_at": None,
}
_IS_NEXT = runs.c.turns == parameter("behind")
_END_TURN = change_held(runs, _IS_NEXT, **_TURN)
_END_LAST_TURN = end_held(runs, _IS_NEXT, **_TURN)
_END = end_held(runs)


class Runs(WorkOf[Run]):
    """The runs of the principal's sessions."""

    table = runs
    kind = Run

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
        added = insert_where(runs, values, mine.exists()).returning(*columns_of(runs, Run))
        return self._made(self._one(added))

    def start_task(  # noqa: PLR0913 (what a run is begun with)
        self,
        run_id: UUID,
        parent: Held,
        call_id: str,
        session_id: UUID,
        seq: int,
        *,
        worker: str,
        lease: timedelta,
    ) -> Claimed[Run]:
        """Store a helper's run that begins with message `seq`, claimed by its parent's worker.

        It has the parent's limits: the turns that it may have, and the moment of its deadline.

        Raises:
            NotFound: the parent is no longer this worker's.
        """
        same = ("tenant_id", "agent_id", "owner_id", "key_id", "max_turns", "deadline_at")
        own = {
            "id": run_id,
            "session_id": session_id,
            "parent_run_id": parent.id,
            "parent_tool_use_id": call_id,
            "seqs": [seq],
            "status": Status.RUNNING.value,
            "attempt": 1,
            "worker": worker,
        }
        columns = [
            *(runs.c[name] for name in same),
            *(literal(value, runs.c[name].type) for name, value in own.items()),
            func.now(),
            func.now() + lease,
        ]
        names = [*same, *own, "started_at", "lease_until"]
        added = insert(runs).from_select(
            names, select(*columns).where(*is_held(runs, self._scope, parent))
        )
        return self._claimed(self._one(added.returning(*_CLAIMED)))

    def task_of(self, parent_run_id: UUID, call_id: str) -> Claimed[Run] | None:
        """The run that was started for this call, claimed as it was then, or ended by now."""
        row = self._first(
            select(*_CLAIMED).where(
                self._scope.of_session(runs),
                runs.c.parent_run_id == parent_run_id,
                runs.c.parent_tool_use_id == call_id,
            )
        )
        return None if row is None else self._claimed(row)

    def open_of(self, session_id: UUID) -> Run | None:
        """The session's run that has not ended."""
        row = self._first(self._select().where(runs.c.session_id == session_id, is_open(runs)))
        return None if row is None else self._made(row)

    def keep_loaded(self, held: Held, loaded: Mapping[str, Any]) -> None:
        """Keep what the run goes by, for the case that another worker has to go on.

        Raises:
            WorkLost: it was settled, or another worker has it.
        """
        self._change(_KEEP_LOADED, held, loaded=loaded)

    def begin_call(self, held: Held) -> None:
        """From now on a call, or a tool, may be under way: nobody may repeat it.

        Raises:
            WorkLost: it was settled, or another worker has it.
        """
        self._change(_BEGIN_CALL, held)

    def end_turn(
        self, held: Held, turn: int, seqs: Sequence[int], ending: Ending | None = None
    ) -> None:
        """Count turn number `turn`, whose messages are stored; nothing is under way any more.

        With `ending` the run has ended with it.

        Raises:
            WorkLost: it was settled, another worker has it, or the turn is stored: one that is
                written again, since nobody knows whether it was, is not stored twice.
        """
        told = {"behind": turn - 1, "seqs": list(seqs)}
        if ending is None:
            self._change(_END_TURN, held, **told)
        else:
            self._change(_END_LAST_TURN, held, **told, **ended(ending))

    def end(self, held: Held, ending: Ending) -> None:
        """Bring it to its final state.

        Raises:
            WorkLost: it was settled, or another worker has it.
        """
        self._change(_END, held, **ended(ending))

    def _claimed(self, row: Row[Any]) -> Claimed[Run]:
        return claimed(self._made(row), row, self._scope.principal)


class AllRuns(AllWork[Run]):
    """The runs of every tenant."""

    table = runs
    kind = Run
    # A helper's run is carried out where its parent is, or not at all.
    resumable = runs.c.parent_run_id.is_(None)
