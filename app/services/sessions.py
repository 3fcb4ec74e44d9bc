"""Sessions: conversations of one agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from app.domain.audit import Action
from app.domain.ids import new_id
from app.domain.sessions import Session
from app.store.transaction import Transaction

DEFAULT_TITLE = "New session"


def create(tx: Transaction, agent_id: UUID, title: str = DEFAULT_TITLE) -> Session:
    """Start a session of the principal's with an agent that it may use.

    Raises:
        NotFound: the agent is not the principal's to use.
    """
    agent = tx.agents.get(agent_id)
    session = tx.sessions.add(
        Session(
            id=new_id(),
            tenant_id=tx.principal.tenant_id,
            owner_id=tx.principal.user_id,
            agent_id=agent.id,
            title=title,
        )
    )
    tx.audit.add(Action.SESSION_CREATE, "session", session.id, {"agent_id": str(agent.id)})
    return session


def change(tx: Transaction, session_id: UUID, wanted: Mapping[str, Any]) -> Session:
    """Rename a session, or put it into the archive or back.

    Raises:
        NotFound: the session is not the principal's to see.
    """
    if not wanted:
        return tx.sessions.get(session_id)
    session = tx.sessions.update(session_id, **wanted)
    tx.audit.add(Action.SESSION_UPDATE, "session", session_id, {"fields": sorted(wanted)})
    return session


def delete(tx: Transaction, session_id: UUID) -> None:
    """Remove a session with all that belongs to it.

    Raises:
        NotFound: the session is not the principal's to see.
    """
    tx.sessions.delete(session_id)
    tx.audit.add(Action.SESSION_DELETE, "session", session_id, {})
