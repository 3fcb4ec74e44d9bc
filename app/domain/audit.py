"""Audit: who did what to which target, and when. Never content, never secrets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID


class Action(StrEnum):
    """The closed set of what is audited."""

    TENANT_CREATE = "tenant.create"
    TENANT_UPDATE = "tenant.update"
    QUOTA_UPDATE = "quota.update"
    USER_CREATE = "user.create"
    USER_UPDATE = "user.update"
    KEY_CREATE = "key.create"
    KEY_REVOKE = "key.revoke"
    WEB_SIGN_IN = "web.sign_in"
    WEB_SIGN_OUT = "web.sign_out"
    AGENT_CREATE = "agent.create"
    AGENT_UPDATE = "agent.update"
    AGENT_DELETE = "agent.delete"
    SESSION_CREATE = "session.create"
    SESSION_UPDATE = "session.update"
    SESSION_DELETE = "session.delete"
    MEMORY_WRITE = "memory.write"
    MEMORY_DELETE = "memory.delete"
    SKILL_WRITE = "skill.write"
    SKILL_DELETE = "skill.delete"
    TOOL_WRITE = "tool.write"
    TOOL_DELETE = "tool.delete"
    MCP_WRITE = "mcp.write"
    MCP_REFRESH = "mcp.refresh"
    MCP_DELETE = "mcp.delete"
    FILE_WRITE = "file.write"
    FILE_DELETE = "file.delete"
    ATTACHMENT_CREATE = "attachment.create"
    ATTACHMENT_DELETE = "attachment.delete"
    IMPORT_CREATE = "import.create"
    CONTEXT_OVERRIDE = "context.override"
    CONTEXT_TRY = "context.try"
    CONTEXT_TRY_CANCEL = "context.try_cancel"
    RUN_START = "run.start"
    RUN_CANCEL = "run.cancel"


Outcome = Literal["done", "refused"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an action came from: what ties its audit row to logs and traces."""

    request_id: str | None = None
    trace_id: str | None = None
    address: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """One audited action."""

    id: UUID
    at: str
    user_id: UUID | None  # None: somebody with access to the server, by `hango admin`
    key_id: UUID | None
    action: Action
    target_kind: str
    target_id: str
    outcome: Outcome
    detail: Mapping[str, Any]  # ids, numbers, names of fields
    request_id: str | None
    trace_id: str | None
    address: str | None
