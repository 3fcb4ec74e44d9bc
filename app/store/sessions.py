"""Sessions."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    ScalarSelect,
    Select,
    delete,
    func,
    literal,
    select,
    update,
)

from app.domain.agents import Subagent
from app.domain.pages import Page
from app.domain.principals import Principal, Role
from app.domain.sessions import ListedSession, Session
from app.errors import NotFound
from app.store.agents import subagent
from app.store.hot import Hot, parameter
from app.store.repository import Repository, containing, insert_where, page_by_id
from app.store.scope import Scope
from app.store.tables import agents, context_overrides, sessions, users

_COLUMNS = [sessions.c[field.name] for field in fields(Session)]


@Hot
def _by_id(scope: Scope) -> Select[Any]:
    return select(*_COLUMNS).where(scope.session(), sessions.c.id == parameter("session"))


class Sessions(Repository):
    """The principal's sessions; an admin's are all of its tenant."""

    def get(self, session_id: UUID) -> Session:
        """Raises NotFound."""
        return _session(self._hot_one(_by_id, session=session_id))

    def lock(self, session_id: UUID) -> Session:
        """The session, held until the transaction ends: nobody else appends to it meanwhile.

        Raises NotFound.
        """
        return _session(self._one(self._select(session_id).with_for_update(key_share=True)))

    def add(self, session: Session) -> Session:
        """Store a new session of the principal's own. Raises NotFound for its agent or parent."""
        usable = select(agents.c.id).where(
            self._scope.readable_agent(), agents.c.id == session.agent_id
        )
        condition: ColumnElement[bool] = usable.exists()
        if session.parent_id is not None:
            condition &= self._select(session.parent_id).exists()
        values = {
            "tenant_id": self._scope.tenant_id,
            "owner_id": self._scope.user_id,
            "id": session.id,
            "agent_id": session.agent_id,
            "title": session.title,
            "archived": session.archived,
            "parent_id": session.parent_id,
            "parent_tool_use_id": session.parent_tool_use_id,
        }
        added = insert_where(sessions, values, condition).returning(*_COLUMNS)
        return _session(self._one(added))

    def add_task(
        self, session_id: UUID, parent: Session, call_id: str, helper: Subagent, title: str
    ) -> Session:
        """Store a helper's session, which is its parent's owner's. Raises NotFound."""
        values = {
            "tenant_id": self._scope.tenant_id,
            "owner_id": parent.owner_id,
            "id": session_id,
            "agent_id": parent.agent_id,
            "title": title,
            "parent_id": parent.id,
            "parent_tool_use_id": call_id,
            "helper": asdict(helper),
        }
        added = insert_where(sessions, values, self._select(parent.id).exists())
        return _session(self._one(added.returning(*_COLUMNS)))

    def depth(self, session_id: UUID) -> int:
        """How many sessions stand above this one. Raises NotFound."""
        above = (
            select(sessions.c.parent_id, literal(0).label("depth"))
            .where(self._scope.session(), sessions.c.id == session_id)
            .cte("above", recursive=True)
        )
        parents = select(sessions.c.parent_id, above.c.depth + 1).where(
            self._scope.in_tenant(sessions), sessions.c.id == above.c.parent_id
        )
        deepest = func.max(above.union_all(parents).c.depth).label("depth")
        depth: int | None = self._one(select(deepest)).depth
        if depth is None:
            raise NotFound
        return depth

    def update(
        self, session_id: UUID, *, title: str | None = None, archived: bool | None = None
    ) -> Session:
        """Rename, archive or unarchive; None leaves as it is. Raises NotFound."""
        wanted = {"title": title, "archived": archived}
        changes = {name: value for name, value in wanted.items() if value is not None}
        changed = (
            update(sessions)
            .where(self._scope.session(), sessions.c.id == session_id)
            .values(**changes, updated_at=func.clock_timestamp())
            .returning(*_COLUMNS)
        )
        return _session(self._one(changed))

    def delete(self, session_id: UUID) -> None:
        """Remove a session with all that belongs to it, its child sessions too. Raises NotFound."""
        gone = delete(sessions).where(self._scope.session(), sessions.c.id == session_id)
        if not self._connection.execute(gone).rowcount:
            raise NotFound

    def page(  # noqa: PLR0913 (the filters of the list)
        self,
        after: UUID | None,
        limit: int,
        *,
        agent_id: UUID | None = None,
        query: str | None = None,
        archived: bool | None = None,
        parent: UUID | None = None,
        nested: bool = False,
        overrides: bool | None = None,
    ) -> Page[ListedSession]:
        """Sessions, newest first; `query`: those whose title contains it.

        Those with a parent only where `parent` is theirs, or with `nested`. `overrides`: those with
        some that are saved, theirs or their agent's, or those without any.
        """
        saved = _saved_overrides(self._scope)
        found = select(*_COLUMNS, saved.label("saved_overrides")).where(self._scope.session())
        if parent is not None:
            found = found.where(sessions.c.parent_id == parent)
        elif not nested:
            found = found.where(sessions.c.parent_id.is_(None))
        if after is not None:
            found = found.where(sessions.c.id < after)
        if agent_id is not None:
            found = found.where(sessions.c.agent_id == agent_id)
        if query:
            found = found.where(sessions.c.title.ilike(containing(query)))
        if archived is not None:
            found = found.where(sessions.c.archived == archived)
        if overrides is not None:
            found = found.where((saved > 0) == overrides)
        rows = self._rows(found.order_by(sessions.c.id.desc()).limit(limit + 1))
        return page_by_id(rows, limit, _listed)

    def _select(self, session_id: UUID) -> Select[Any]:
        return select(*_COLUMNS).where(self._scope.session(), sessions.c.id == session_id)


class AllSessions:
    """Sessions of every tenant, for workers that were given nothing but an id."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def owner(self, session_id: UUID) -> Principal:
        """In whose name a worker may act on this session. Raises NotFound."""
        owned = sessions.join(
            users,
            (users.c.tenant_id == sessions.c.tenant_id) & (users.c.id == sessions.c.owner_id),
        )
        row = self._connection.execute(
            select(users.c.tenant_id, users.c.id, users.c.role)
            .select_from(owned)
            .where(sessions.c.id == session_id)
        ).first()
        if row is None:
            raise NotFound
        return Principal(tenant_id=row.tenant_id, user_id=row.id, role=Role(row.role))


def _saved_overrides(scope: Scope) -> ScalarSelect[int]:
    """How many overrides act on a session: its own and its agent's."""
    table = context_overrides
    of_session = table.c.session_id == sessions.c.id
    of_agent = table.c.agent_id == sessions.c.agent_id
    counted = select(func.count()).where(scope.in_tenant(table), of_session | of_agent)
    return counted.correlate(sessions).scalar_subquery()


def _session(row: Row[Any]) -> Session:
    return Session(**_values(row))


def _listed(row: Row[Any]) -> ListedSession:
    return ListedSession(**_values(row))


def _values(row: Row[Any]) -> dict[str, Any]:
    helper = row._mapping["helper"]
    return {**row._mapping, "helper": None if helper is None else subagent(helper)}
