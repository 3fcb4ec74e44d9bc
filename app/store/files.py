"""Files of the sessions' virtual filesystems."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from uuid import UUID

from sqlalchemy import Integer, cast, delete, func, select

from app.domain.files import FileEntry, Room, SessionFile
from app.domain.text import clean
from app.errors import NotFound
from app.store.repository import Repository, insert_where
from app.store.tables import session_files, sessions

_COLUMNS = [session_files.c[name] for name in SessionFile.__struct_fields__]
_ENTRY = [session_files.c[name] for name in FileEntry.__struct_fields__]


class Files(Repository):
    """The files of the principal's sessions."""

    def of(self, session_id: UUID) -> list[FileEntry]:
        """The session's files by path, without their content."""
        found = select(*_ENTRY).where(
            self._scope.of_session(session_files), session_files.c.session_id == session_id
        )
        rows = self._rows(found.order_by(session_files.c.path))
        return [FileEntry(**row._mapping) for row in rows]

    def get(self, session_id: UUID, path: str) -> SessionFile:
        """Raises NotFound."""
        found = select(*_COLUMNS).where(
            self._scope.of_session(session_files),
            session_files.c.session_id == session_id,
            session_files.c.path == path,
        )
        return SessionFile(**self._one(found)._mapping)

    def contents(self, session_id: UUID, paths: Collection[str]) -> dict[str, str]:
        """The contents of those of these files that are there, by path."""
        found = select(session_files.c.path, session_files.c.content).where(
            self._scope.of_session(session_files),
            session_files.c.session_id == session_id,
            session_files.c.path.in_(paths),
        )
        return {row.path: row.content for row in self._rows(found)}

    def held(self, session_id: UUID, path: str) -> SessionFile | None:
        """The file, or None; nobody else writes it until the transaction ends."""
        found = select(*_COLUMNS).where(
            self._scope.of_session(session_files),
            session_files.c.session_id == session_id,
            session_files.c.path == path,
        )
        row = self._first(found.with_for_update())
        return SessionFile(**row._mapping) if row else None

    def used(self, session_id: UUID) -> Room:
        """What all files of the session hold together."""
        size = func.coalesce(func.sum(session_files.c.size_bytes), 0)
        found = select(func.count(), size).where(
            self._scope.of_session(session_files), session_files.c.session_id == session_id
        )
        return Room(*self._one(found))

    def put(self, session_id: UUID, path: str, content: str) -> SessionFile:
        """Write a file; its version grows when the content is another. Raises NotFound."""
        stored = clean(content)
        encoded = stored.encode()
        values = {
            "tenant_id": self._scope.tenant_id,
            "session_id": session_id,
            "path": path,
            "content": stored,
            "sha256": hashlib.sha256(encoded).hexdigest(),
            "size_bytes": len(encoded),
        }
        mine = select(sessions.c.id).where(self._scope.session(), sessions.c.id == session_id)
        new = insert_where(session_files, values, mine.exists())
        changed = session_files.c.sha256 != new.excluded.sha256
        written = new.on_conflict_do_update(
            index_elements=list(session_files.primary_key),
            set_={each: new.excluded[each] for each in ("content", "sha256", "size_bytes")}
            | {
                "version": session_files.c.version + cast(changed, Integer),
                "updated_at": func.clock_timestamp(),
            },
        )
        return SessionFile(**self._one(written.returning(*_COLUMNS))._mapping)

    def delete(self, session_id: UUID, path: str) -> None:
        """Raises NotFound."""
        gone = delete(session_files).where(
            self._scope.of_session(session_files),
            session_files.c.session_id == session_id,
            session_files.c.path == path,
        )
        if not self._connection.execute(gone).rowcount:
            raise NotFound
