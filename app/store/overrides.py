"""Saved context overrides: the set of each target as it is, and the last ones that it has had."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from itertools import starmap
from typing import Any
from uuid import UUID

import msgspec
from psycopg2.extras import execute_values
from sqlalchemy import ColumnElement, Select, Table, delete, func, insert, or_, select

from app.domain.ids import new_id
from app.domain.overrides import Override, OverrideSet, PastSet, SavedOverride, SavedSet, Target
from app.errors import NotFound
from app.store.hot import Hot, parameter
from app.store.repository import Repository
from app.store.scope import Scope
from app.store.tables import agents, context_overrides, override_sets, sessions

KEPT_SETS = 20

_INSERT = """
INSERT INTO context_overrides
  (tenant_id, id, agent_id, session_id, part, action, replacement, reason, base_sha256,
   created_by, created_at)
VALUES %s
"""

_FIELDS = ("part", "action", "replacement", "reason", "base_sha256", "created_by", "created_at")
_SAVED = [context_overrides.c[name] for name in _FIELDS]


@Hot
def _for_run(scope: Scope) -> Select[Any]:
    table = context_overrides
    of_agent = scope.of_agent(table, scope.usable_agent())
    of_session = scope.of_session(table)
    # A helper's session has another prompt than the one that the agent's override speaks of.
    helpers = select(sessions.c.id).where(
        scope.in_tenant(sessions),
        sessions.c.id == parameter("session"),
        sessions.c.helper.isnot(None),
    )
    own_prompt = (table.c.part == "system:agent") | table.c.part.like("system:agent:%")
    columns = (table.c[name] for name in Override.__struct_fields__)
    return select(*columns).where(
        scope.in_tenant(table),
        or_(
            of_agent & (table.c.agent_id == parameter("agent")) & ~(own_prompt & helpers.exists()),
            of_session & (table.c.session_id == parameter("session")),
        ),
    )


class Overrides(Repository):
    """Sets of overrides: read with their target, written by who may change it."""

    def of(self, target: Target) -> SavedSet:
        """The target's set; empty when nobody saved one. Raises NotFound."""
        self._must_see(target)
        return self._read(target)

    def lock(self, target: Target) -> SavedSet:
        """The target's set, held so that nobody else changes it before this ends.

        Raises:
            NotFound: the target is not the principal's to change.
        """
        table, visible = self._target_table(target, writable=True)
        self._one(select(table.c.id).where(visible, table.c.id == target.id).with_for_update())
        return self._read(target)

    def for_run(self, agent_id: UUID, session_id: UUID) -> OverrideSet:
        """The agent's and the session's overrides together, in one query."""
        found = self._hot(_for_run, agent=agent_id, session=session_id)
        return OverrideSet(starmap(Override, found))

    def replace(
        self, held: SavedSet, wanted: Sequence[SavedOverride], reason: str | None
    ) -> SavedSet:
        """Make `wanted` the whole set of the target that `held` came from, by `lock`.

        A set equal to the held one leaves everything as it is.
        """
        if tuple(wanted) == held.overrides:
            return held
        target = held.target
        self._connection.execute(delete(context_overrides).where(self._of(target)))
        self._insert(target, wanted)
        version = self._remember(held, wanted, reason)
        return SavedSet(target=target, version=version, overrides=tuple(wanted))

    def history(self, target: Target) -> list[PastSet]:
        """The last sets of the target, newest first; the first one is in force. NotFound."""
        self._must_see(target)
        found = (
            select(override_sets)
            .where(self._of(target, override_sets))
            .order_by(override_sets.c.version.desc())
            .limit(KEPT_SETS)
        )
        return [_past(row._mapping) for row in self._rows(found)]

    def past(self, target: Target, version: int) -> PastSet:
        """One of the last sets. Raises NotFound."""
        self._must_see(target)
        found = select(override_sets).where(
            self._of(target, override_sets), override_sets.c.version == version
        )
        return _past(self._one(found)._mapping)

    def _read(self, target: Target) -> SavedSet:
        found = select(*_SAVED).where(self._of(target)).order_by(context_overrides.c.id)
        latest = select(func.max(override_sets.c.version)).where(self._of(target, override_sets))
        version = self._connection.execute(latest).scalar() or 0
        overrides = tuple(SavedOverride(**row._mapping) for row in self._rows(found))
        return SavedSet(target=target, version=version, overrides=overrides)

    def _remember(self, held: SavedSet, wanted: Sequence[SavedOverride], reason: str | None) -> int:
        version = held.version + 1
        self._connection.execute(
            insert(override_sets).values(
                tenant_id=self._scope.tenant_id,
                id=new_id(),
                version=version,
                overrides=msgspec.json.encode(wanted).decode(),
                reason=reason,
                created_by=self._scope.user_id,
                **_key(held.target),
            )
        )
        outdated = delete(override_sets).where(
            self._of(held.target, override_sets), override_sets.c.version <= version - KEPT_SETS
        )
        self._connection.execute(outdated)
        return version

    def _insert(self, target: Target, wanted: Sequence[SavedOverride]) -> None:
        """All rows in one statement, by the driver: a set may hold thousands."""
        of = [value and str(value) for value in _key(target).values()]
        tenant = str(self._scope.tenant_id)
        rows = [
            (tenant, str(new_id()), *of, e.part, e.action, e.replacement, e.reason,
             e.base_sha256, str(e.created_by), e.created_at)
            for e in wanted
        ]  # fmt: skip
        with closing(self._connection.connection.cursor()) as cursor:
            execute_values(cursor, _INSERT, rows, page_size=1000)

    def _must_see(self, target: Target) -> None:
        table, visible = self._target_table(target, writable=False)
        if self._first(select(table.c.id).where(visible, table.c.id == target.id)) is None:
            raise NotFound

    def _target_table(self, target: Target, *, writable: bool) -> tuple[Table, ColumnElement[bool]]:
        if target.kind == "session":
            return sessions, self._scope.session()
        if writable:
            return agents, self._scope.writable_agent()
        return agents, self._scope.usable_agent()

    def _of(self, target: Target, table: Table = context_overrides) -> ColumnElement[bool]:
        return self._scope.in_tenant(table) & (table.c[f"{target.kind}_id"] == target.id)


def _key(target: Target) -> dict[str, UUID | None]:
    return {
        "agent_id": target.id if target.kind == "agent" else None,
        "session_id": target.id if target.kind == "session" else None,
    }


def _past(row: Any) -> PastSet:
    return PastSet(
        version=row["version"],
        overrides=msgspec.json.decode(row["overrides"], type=tuple[SavedOverride, ...]),
        created_by=row["created_by"],
        created_at=row["created_at"],
        reason=row["reason"],
    )
