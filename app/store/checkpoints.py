"""Checkpoints: where later requests of a session start."""

from __future__ import annotations

from uuid import UUID

from msgspec.structs import asdict
from sqlalchemy import func, insert, select

from app.domain.checkpoints import NewCheckpoint
from app.domain.ids import new_id
from app.domain.ports import Checkpoint
from app.domain.sessions import Session
from app.store import history
from app.store.repository import Repository
from app.store.tables import checkpoints, sessions

_SUMMARY = ("role", "content", "tokens", "counted_by", "preview", "sha256", "marks")


class Checkpoints(Repository):
    """The checkpoints of the principal's sessions."""

    def latest(self, session_id: UUID, counted_by: str) -> Checkpoint | None:
        """The newest one, as `tx.messages.history` gives it too. Raises NotFound."""
        return history.read_checkpoint(self._connection, self._scope, session_id, counted_by)

    def add(self, session: Session, new: NewCheckpoint) -> UUID:
        """Let later requests start at this summary. Holds the session until the transaction ends.

        Raises:
            NotFound
            ValueError: it covers messages that are not there, or fewer than the newest one does.
        """
        held = select(sessions.c.last_seq).where(self._scope.session(), sessions.c.id == session.id)
        last_seq = self._one(held.with_for_update(key_share=True)).last_seq
        mine = self._scope.in_tenant(checkpoints) & (checkpoints.c.session_id == session.id)
        newest = self._one(
            select(
                func.coalesce(func.max(checkpoints.c.version), 0).label("version"),
                func.coalesce(func.max(checkpoints.c.covers_seq), 1).label("covers_seq"),
            ).where(mine)
        )
        if not newest.covers_seq <= new.covers_seq <= last_seq:
            raise ValueError(f"Covers {new.covers_seq}; not in {newest.covers_seq} … {last_seq}")
        made = {name: value for name, value in asdict(new).items() if name != "summary"}
        made |= {name: value for name, value in asdict(new.summary).items() if name in _SUMMARY}
        checkpoint_id = new_id()
        self._connection.execute(
            insert(checkpoints).values(
                tenant_id=self._scope.tenant_id,
                id=checkpoint_id,
                session_id=session.id,
                version=newest.version + 1,
                kind="summary",
                state="completed",
                finished_at=func.now(),
                **made,
            )
        )
        return checkpoint_id
