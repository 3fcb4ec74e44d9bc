"""What model calls were sent and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import Row, Select, func, insert, select, update

from app.domain.usage import CallRecord, EndedCall, SentPart, StartedCall, UsageTotals
from app.errors import NotFound
from app.store.repository import Repository
from app.store.tables import sessions, usage_records

_RECORD = [usage_records.c[name] for name in CallRecord.__struct_fields__]
_SUMMED = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "cost_micro_dollars",
)


class Usage(Repository):
    """The usage records of the principal's sessions."""

    def begin(self, call: StartedCall) -> None:
        """Note a call that is about to be made, of unknown outcome.

        The caller holds the run, so that no number is taken twice. Raises NotFound.
        """
        mine = select(sessions.c.id).where(self._scope.session(), sessions.c.id == call.session_id)
        self._one(mine)
        values = msgspec.structs.asdict(call) | {
            "tenant_id": self._scope.tenant_id,
            "user_id": self._scope.user_id,
            "key_id": self._scope.principal.key_id,
            "outcome": "unknown",
            "call": call.run_id and _next_call(self._scope.tenant_id, call.run_id),
            "manifest": msgspec.to_builtins(call.manifest),
        }
        self._connection.execute(insert(usage_records).values(**values))

    def end(self, record_id: UUID, ended: EndedCall) -> None:
        """Note what a call came to."""
        mine = self._scope.of_session(usage_records)
        changed = update(usage_records).where(mine, usage_records.c.id == record_id)
        self._connection.execute(changed.values(**msgspec.structs.asdict(ended)))

    def calls(self, run_id: UUID) -> list[CallRecord]:
        """The calls of a run, in their order; none for a run that the principal does not see."""
        found = self._of(run_id, *_RECORD).order_by(usage_records.c.call)
        return [_record(row) for row in self._rows(found)]

    def call(self, run_id: UUID, number: int) -> tuple[CallRecord, list[SentPart]]:
        """A call and what it was sent. Raises NotFound."""
        found = self._of(run_id, *_RECORD, usage_records.c.manifest)
        row = self._one(found.where(usage_records.c.call == number))
        if row.manifest is None:
            raise NotFound
        return _record(row), msgspec.convert(row.manifest, list[SentPart])

    def totals(self, run_ids: Sequence[UUID]) -> dict[UUID, UsageTotals]:
        """The sums over the calls of each of these runs that has made any."""
        sums = (func.coalesce(func.sum(usage_records.c[name]), 0) for name in _SUMMED)
        unpriced = func.count() - func.count(usage_records.c.cost_micro_dollars)
        found = (
            select(usage_records.c.run_id, func.count(), *sums, unpriced)
            .where(self._scope.of_session(usage_records), usage_records.c.run_id.in_(run_ids))
            .group_by(usage_records.c.run_id)
        )
        return {run_id: UsageTotals(*map(int, sums)) for run_id, *sums in self._rows(found)}

    def of_tries(self, try_ids: Sequence[UUID]) -> dict[UUID, CallRecord]:
        """The calls of these tries, as far as there were any."""
        mine = self._scope.of_session(usage_records)
        found = select(usage_records.c.try_id, *_RECORD).where(
            mine, usage_records.c.try_id.in_(try_ids)
        )
        return {row.try_id: _record(row) for row in self._rows(found)}

    def sent_of_tries(
        self, try_ids: Sequence[UUID]
    ) -> dict[UUID, tuple[CallRecord, list[SentPart]]]:
        """The calls of these tries with what they were sent, as far as there were any."""
        found = select(usage_records.c.try_id, *_RECORD, usage_records.c.manifest).where(
            self._scope.of_session(usage_records),
            usage_records.c.try_id.in_(try_ids),
            usage_records.c.manifest.isnot(None),
        )
        return {
            row.try_id: (_record(row), msgspec.convert(row.manifest, list[SentPart]))
            for row in self._rows(found)
        }

    def usual_output(self, session_id: UUID) -> int | None:
        """How many tokens the answers in a session have on average; None: there are none."""
        found = select(func.round(func.avg(usage_records.c.output_tokens))).where(
            self._scope.of_session(usage_records),
            usage_records.c.session_id == session_id,
            usage_records.c.purpose.in_(("turn", "context_try")),
            usage_records.c.outcome == "succeeded",
        )
        average = self._one(found)[0]
        return None if average is None else int(average)

    def _of(self, run_id: UUID, *columns: Any) -> Select[Any]:
        return select(*columns).where(
            self._scope.of_session(usage_records), usage_records.c.run_id == run_id
        )


def _next_call(tenant_id: UUID, run_id: UUID) -> Any:
    earlier = select(func.coalesce(func.max(usage_records.c.call), 0) + 1).where(
        usage_records.c.tenant_id == tenant_id, usage_records.c.run_id == run_id
    )
    return earlier.scalar_subquery()


def _record(row: Row[Any]) -> CallRecord:
    return CallRecord(**{name: row._mapping[name] for name in CallRecord.__struct_fields__})
