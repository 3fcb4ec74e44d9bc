"""Sessions: conversations of one agent, each owned by one user."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from app.domain.agents import Subagent


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation."""

    id: UUID
    tenant_id: UUID
    owner_id: UUID
    agent_id: UUID
    title: str
    archived: bool = False
    parent_id: UUID | None = None  # of a subagent's session: the session that called it
    parent_tool_use_id: str | None = None  # and the call that it answers
    helper: Subagent | None = None  # as it was defined when `task` made the session
    last_seq: int = 0  # also how many messages there are: numbers have no gaps
    message_tokens: int = 0  # the sum of the messages' counts as they were written
    created_at: str = ""
    updated_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSession(Session):
    """A conversation as a list shows it."""

    saved_overrides: int  # of the session and of its agent together, whether or not they fit
