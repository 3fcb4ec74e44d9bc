"""/v1/sessions"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from app.api import idempotency, paging
from app.api.current import reading, transaction
from app.api.resource import Resource
from app.api.schemas.sessions import (
    SessionChangeSchema,
    SessionCreateSchema,
    SessionPageSchema,
    SessionQuery,
    SessionSchema,
)
from app.domain.sessions import Session
from app.services import sessions

blueprint = Resource("sessions", "Conversations of one agent, each owned by one user.")


@blueprint.post("/sessions")
@blueprint.takes(SessionCreateSchema)
@blueprint.gives(201, SessionSchema)
@blueprint.notes(parameters=[idempotency.HEADER])
def create_session(body: dict[str, Any]) -> Session:
    """Start a session with an agent."""
    with transaction() as tx:
        return idempotency.once(tx, body, lambda: sessions.create(tx, **body), tx.sessions.get)


@blueprint.get("/sessions")
@blueprint.asks(SessionQuery)
@blueprint.gives(200, SessionPageSchema)
def list_sessions(query: dict[str, Any]) -> dict[str, Any]:
    """List your sessions, newest first."""
    after = paging.position(query, UUID)
    with reading() as tx:
        page = tx.sessions.page(after, query["limit"], **paging.filters(query))
    return paging.body(page, query)


@blueprint.get("/sessions/<uuid:session_id>")
@blueprint.gives(200, SessionSchema)
def get_session(session_id: UUID) -> Session:
    """Read a session."""
    with reading() as tx:
        return tx.sessions.get(session_id)


@blueprint.patch("/sessions/<uuid:session_id>")
@blueprint.takes(SessionChangeSchema)
@blueprint.gives(200, SessionSchema)
def change_session(body: dict[str, Any], session_id: UUID) -> Session:
    """Rename a session, or put it into the archive or back."""
    with transaction() as tx:
        return sessions.change(tx, session_id, body)


@blueprint.delete("/sessions/<uuid:session_id>")
@blueprint.gives(204)
def delete_session(session_id: UUID) -> None:
    """Delete a session with its messages, files and attachments."""
    with transaction() as tx:
        sessions.delete(tx, session_id)
