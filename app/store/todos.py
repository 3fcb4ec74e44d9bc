"""Todo lists of sessions."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import delete, insert, select

from app.domain.ports import Todo
from app.store.repository import Repository
from app.store.tables import sessions, todos


class Todos(Repository):
    """The todo lists of the principal's sessions."""

    def of(self, session_id: UUID) -> list[Todo]:
        """The list, in its order."""
        found = select(todos.c.content, todos.c.status).where(
            self._scope.of_session(todos), todos.c.session_id == session_id
        )
        return [Todo(*row) for row in self._rows(found.order_by(todos.c.position))]

    def replace(self, session_id: UUID, items: Sequence[Todo]) -> None:
        """Make `items` the whole list. Holds the session. Raises NotFound."""
        mine = select(sessions.c.id).where(self._scope.session(), sessions.c.id == session_id)
        self._one(mine.with_for_update(key_share=True))
        place = {"tenant_id": self._scope.tenant_id, "session_id": session_id}
        old = (todos.c.session_id == session_id) & self._scope.in_tenant(todos)
        self._connection.execute(delete(todos).where(old))
        if items:
            rows = [
                place | {"position": position, "content": item.content, "status": item.status}
                for position, item in enumerate(items, start=1)
            ]
            self._connection.execute(insert(todos), rows)
