"""Tries, and what of their life is theirs alone."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import msgspec
from sqlalchemy import Insert, delete, func, select, tuple_

from app.domain.ids import rfc3339
from app.domain.tries import Plan, SentSnapshot, Try
from app.domain.work import Ending, Held
from app.errors import Gone, NotFound
from app.store.hot import Hot, insert_given, parameter
from app.store.scope import Scope
from app.store.tables import sessions, tries, usage_records
from app.store.work import (
    AllWork,
    WorkOf,
    change_held,
    columns_of,
    end_held,
    ended,
    is_open,
)

_GIVEN = (
    "tenant_id",
    "id",
    "session_id",
    "owner_id",
    "key_id",
    "model",
    "excluded",
    "added",
    "replaced",
    "message",
    "loaded",
    "expires_at",
    "baseline_id",
    "ablation_id",
    "snapshot",
    "request_sha256",
)


@Hot
def _add(scope: Scope) -> Insert:
    mine = select(sessions.c.id).where(scope.session(), sessions.c.id == parameter("session_id"))
    return insert_given(tries, _GIVEN, mine.exists()).returning(*columns_of(tries, Try))


_BEGIN_CALL = change_held(
    tries,
    call_started_at=func.clock_timestamp(),
    snapshot=parameter("snapshot"),
    request_sha256=parameter("request_sha256"),
)
_END = end_held(tries, answer=parameter("answer"))


class Tries(WorkOf[Try]):
    """The tries of the principal's sessions."""

    table = tries
    kind = Try

    def add(self, try_id: UUID, session_id: UUID, plan: Plan, expires_at: datetime) -> Try:
        """Store a queued try, and until when its row is kept. Raises NotFound."""
        values = {
            "tenant_id": self._scope.tenant_id,
            "id": try_id,
            "session_id": session_id,
            "owner_id": self._scope.user_id,
            "key_id": self._scope.principal.key_id,
            "model": plan.snapshot.model,
            "excluded": plan.excluded,
            "added": msgspec.to_builtins(plan.added),
            "replaced": plan.replaced,
            "message": plan.loaded.message,
            "loaded": msgspec.to_builtins(plan.loaded),
            "expires_at": rfc3339(expires_at),
            "baseline_id": plan.baseline_id,
            "ablation_id": plan.ablation_id,
            **_snapshot(plan.snapshot),
        }
        return self._made(self._hot_one(_add, **values))

    def get(self, work_id: UUID) -> Try:
        """Raises NotFound, and Gone for one that had called the model and was purged."""
        try:
            return super().get(work_id)
        except NotFound:
            mine = self._scope.of_session(usage_records)
            called = select(usage_records.c.id).where(mine, usage_records.c.try_id == work_id)
            if self._first(called) is not None:
                raise Gone("Results of tries are kept for HANGO_TRY_RETENTION.") from None
            raise

    def of_ablation(self, ablation_id: UUID) -> list[Try]:
        """Those of an ablation, in the order in which they were started."""
        found = self._select().where(tries.c.ablation_id == ablation_id)
        return [self._made(row) for row in self._rows(found.order_by(tries.c.id))]

    def begin_call(self, held: Held, sending: SentSnapshot) -> None:
        """From now on the call may be under way: nobody may repeat it.

        Raises:
            WorkLost: it was settled, or another worker has it.
        """
        self._change(_BEGIN_CALL, held, **_snapshot(sending))

    def end(self, held: Held, ending: Ending, answer: str | None = None) -> None:
        """Bring it to its final state; `answer` is the compact JSON of its blocks.

        Raises:
            WorkLost: it was settled, or another worker has it.
        """
        self._change(_END, held, **ended(ending), answer=answer)


class AllTries(AllWork[Try]):
    """The tries of every tenant."""

    table = tries
    kind = Try
    # One is failed within 30 s of its deadline: this, the sweep's interval, and what it takes.
    grace = timedelta(seconds=15)

    def purge(self, limit: int) -> int:
        """Remove tries whose time is over, with all that they hold; how many."""
        over = (
            select(tries.c.tenant_id, tries.c.id)
            .where(tries.c.expires_at < func.now(), ~is_open(tries))
            .limit(limit)
        )
        gone = delete(tries).where(tuple_(tries.c.tenant_id, tries.c.id).in_(over))
        return self._connection.execute(gone).rowcount


def _snapshot(sent: SentSnapshot) -> dict[str, object]:
    return {"snapshot": msgspec.to_builtins(sent), "request_sha256": sent.request_sha256}
