"""What model calls were sent and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import (
    CTE,
    Insert,
    Row,
    Select,
    Update,
    Uuid,
    any_,
    case,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY

from app.domain.usage import CallRecord, EndedCall, RunUsage, SentPart, StartedCall, UsageTotals
from app.errors import NotFound
from app.store.hot import Hot, parameter
from app.store.repository import Repository
from app.store.scope import Scope
from app.store.tables import runs, sessions, usage_records

_RECORD = [usage_records.c[name] for name in CallRecord.__struct_fields__]
_SUMMED = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "cost_micro_dollars",
)
_BEGUN = (
    *(name for name in StartedCall.__struct_fields__ if name != "manifest"),
    *("tenant_id", "user_id", "key_id", "outcome", "manifest"),
)


@Hot
def _begin(scope: Scope) -> Insert:
    columns = [usage_records.c[name] for name in _BEGUN]
    values = [parameter(each.name, each.type) for each in columns]
    earlier = select(func.coalesce(func.max(usage_records.c.call), 0) + 1).where(
        scope.in_tenant(usage_records),
        usage_records.c.run_id == parameter("run_id"),
        usage_records.c.run_id.isnot(None),
    )
    number = case((parameter("run_id", Uuid()).isnot(None), earlier.scalar_subquery()))
    mine = select(sessions.c.id).where(scope.session(), sessions.c.id == parameter("session_id"))
    row = select(*values, number).where(mine.exists())
    return insert(usage_records).from_select([*columns, usage_records.c.call], row)


@Hot
def _end(scope: Scope) -> Update:
    ended = {name: parameter(name) for name in EndedCall.__struct_fields__}
    mine = (scope.of_session(usage_records), usage_records.c.id == parameter("id"))
    return update(usage_records).where(*mine).values(**ended)


@Hot
def _of_tries(scope: Scope) -> Select[Any]:
    these = usage_records.c.try_id == any_(parameter("ids", ARRAY(Uuid)))
    return select(usage_records.c.try_id, *_RECORD).where(scope.of_session(usage_records), these)


class Usage(Repository):
    """The usage records of the principal's sessions."""

    def begin(self, call: StartedCall) -> None:
        """Note a call that is about to be made, of unknown outcome.

        The caller holds the run, so that no number is taken twice. Raises NotFound.
        """
        values = msgspec.structs.asdict(call) | {
            "tenant_id": self._scope.tenant_id,
            "user_id": self._scope.user_id,
            "key_id": self._scope.principal.key_id,
            "outcome": "unknown",
            "manifest": msgspec.to_builtins(call.manifest),
        }
        if not self._hot_write(_begin, **values):
            raise NotFound

    def end(self, record_id: UUID, ended: EndedCall) -> None:
        """Note what a call came to."""
        self._hot_write(_end, id=record_id, **msgspec.structs.asdict(ended))

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

    def totals(self, run_ids: Sequence[UUID]) -> dict[UUID, RunUsage]:
        """What each of these runs has used; without those that made no call, nor their helpers."""
        family = self._families(run_ids)
        sums = (func.coalesce(func.sum(usage_records.c[name]), 0) for name in _SUMMED)
        unpriced = func.count() - func.count(usage_records.c.cost_micro_dollars)
        is_own = family.c.root == family.c.id
        found = (
            select(family.c.root, is_own, func.count(), *sums, unpriced)
            .join(family, usage_records.c.run_id == family.c.id)
            .where(self._scope.of_session(usage_records))
            .group_by(family.c.root, is_own)
        )
        totals: dict[UUID, RunUsage] = {}
        for root, is_own_calls, *numbers in self._rows(found):
            before, more = totals.get(root, RunUsage()), UsageTotals(*map(int, numbers))
            own = more if is_own_calls else before.own
            totals[root] = RunUsage(own, before.with_helpers + more)
        return totals

    def _families(self, run_ids: Sequence[UUID]) -> CTE:
        """Each of these runs, as its own root, and below it the runs of its helpers."""
        visible = self._scope.of_session(runs)
        roots = select(runs.c.id.label("root"), runs.c.id).where(visible, runs.c.id.in_(run_ids))
        family = roots.cte("family", recursive=True)
        below = select(family.c.root, runs.c.id).join(family, runs.c.parent_run_id == family.c.id)
        return family.union_all(below.where(self._scope.of_session(runs)))

    def of_tries(self, try_ids: Sequence[UUID]) -> dict[UUID, CallRecord]:
        """The calls of these tries, as far as there were any."""
        return {row.try_id: _record(row) for row in self._hot(_of_tries, ids=list(try_ids))}

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


def _record(row: Row[Any]) -> CallRecord:
    return CallRecord(**{name: row._mapping[name] for name in CallRecord.__struct_fields__})
