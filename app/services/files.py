"""Files of a session's virtual filesystem."""

from __future__ import annotations

from uuid import UUID

from app.domain.audit import Action
from app.domain.files import SessionFile
from app.domain.paths import check_file_path
from app.store.transaction import Transaction


def write(tx: Transaction, session_id: UUID, path: str, content: str) -> SessionFile:
    """Store a file, new or in the place of the one with this path.

    Raises:
        NotFound: the session is not the principal's to see.
        BadPath: no file of a session may have this path.
    """
    tx.sessions.get(session_id)
    file = tx.files.put(session_id, check_file_path(path), content)
    tx.audit.add(
        Action.FILE_WRITE, "session", session_id, {"path": path, "characters": len(content)}
    )
    return file


def delete(tx: Transaction, session_id: UUID, path: str) -> None:
    """Remove a file.

    Raises:
        NotFound: the session is not the principal's to see, or has no such file.
    """
    tx.sessions.get(session_id)
    tx.files.delete(session_id, path)
    tx.audit.add(Action.FILE_DELETE, "session", session_id, {"path": path})
