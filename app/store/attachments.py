"""Attachments of sessions."""

from __future__ import annotations

from dataclasses import fields
from uuid import UUID

from sqlalchemy import ColumnElement, and_, delete, select

from app.domain.attachments import Attachment
from app.errors import NotFound
from app.store.repository import Repository, insert_where
from app.store.tables import attachments, sessions

_COLUMNS = [attachments.c[field.name] for field in fields(Attachment)]


class Attachments(Repository):
    """The attachments of the principal's sessions."""

    def add(self, attachment: Attachment, content: bytes) -> Attachment:
        """Store an attachment. Raises NotFound for its session."""
        values = {
            column.name: getattr(attachment, column.name)
            for column in _COLUMNS
            if column.name != "created_at"
        }
        values |= {"tenant_id": self._scope.tenant_id, "content": content}
        mine = select(sessions.c.id).where(
            self._scope.session(), sessions.c.id == attachment.session_id
        )
        added = insert_where(attachments, values, mine.exists()).returning(*_COLUMNS)
        return Attachment(**self._one(added)._mapping)

    def of(self, session_id: UUID) -> list[Attachment]:
        """The session's attachments, oldest first."""
        found = select(*_COLUMNS).where(
            self._scope.of_session(attachments), attachments.c.session_id == session_id
        )
        rows = self._rows(found.order_by(attachments.c.id))
        return [Attachment(**row._mapping) for row in rows]

    def get(self, session_id: UUID, attachment_id: UUID) -> Attachment:
        """Raises NotFound, also for an attachment of another session."""
        found = self._one(select(*_COLUMNS).where(self._is(session_id, attachment_id)))
        return Attachment(**found._mapping)

    def data(self, session_id: UUID, attachment_id: UUID) -> bytes:
        """The bytes as they came in. Raises NotFound."""
        found = select(attachments.c.content).where(self._is(session_id, attachment_id))
        return bytes(self._one(found).content)

    def delete(self, session_id: UUID, attachment_id: UUID) -> None:
        """Raises NotFound."""
        gone = delete(attachments).where(self._is(session_id, attachment_id))
        if not self._connection.execute(gone).rowcount:
            raise NotFound

    def _is(self, session_id: UUID, attachment_id: UUID) -> ColumnElement[bool]:
        return and_(
            self._scope.of_session(attachments),
            attachments.c.session_id == session_id,
            attachments.c.id == attachment_id,
        )
