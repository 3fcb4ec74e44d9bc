"""What is kept beside messages with thinking."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from sqlalchemy import ARRAY, Integer, any_, insert, literal, select, update

from app.domain.thinking import Thought
from app.store.repository import Repository
from app.store.tables import message_thinking, sessions

_COLUMNS = [message_thinking.c[name] for name in Thought.__struct_fields__]


class Thinking(Repository):
    """The thinking of the principal's sessions."""

    def of(self, session_id: UUID) -> dict[int, Thought]:
        """By seq; nothing for a session that the principal does not see."""
        found = select(*_COLUMNS).where(
            self._scope.of_session(message_thinking), message_thinking.c.session_id == session_id
        )
        return {row.seq: Thought(*row) for row in self._rows(found)}

    def add(self, session_id: UUID, thoughts: Sequence[Thought]) -> None:
        """Note the thinking of messages that are stored. Raises NotFound."""
        self._one(select(sessions.c.id).where(self._scope.session(), sessions.c.id == session_id))
        rows = [
            {"tenant_id": self._scope.tenant_id, "session_id": session_id}
            | {name: getattr(each, name) for name in Thought.__struct_fields__}
            for each in thoughts
        ]
        if rows:
            self._connection.execute(insert(message_thinking), rows)

    def retire(self, session_id: UUID, seqs: Collection[int]) -> None:
        """A run has left this thinking out: it never goes back."""
        wanted = literal(sorted(seqs), ARRAY(Integer))
        changed = (
            update(message_thinking)
            .where(
                self._scope.of_session(message_thinking),
                message_thinking.c.session_id == session_id,
                message_thinking.c.seq == any_(wanted),
            )
            .values(retired=True)
        )
        self._connection.execute(changed)
