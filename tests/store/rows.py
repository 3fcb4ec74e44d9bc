"""One good row for every table, all of one tenant and fitting together."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Table, insert

from app.domain.ids import new_id
from app.store.tables import metadata

Row = dict[str, Any]

SHA = "0" * 64
LATER = datetime(2100, 1, 1, tzinfo=UTC).isoformat()


def good_rows() -> dict[str, Row]:
    """By table, in the order in which they can be stored. Ids are new each time."""
    tenant, user, key, agent, session, run = (new_id() for _ in range(6))
    rows: dict[str, Row] = {
        "users": {"id": user, "name": "Ann", "role": "admin"},
        "api_keys": {
            "id": key,
            "user_id": user,
            "created_by": user,
            "public_id": _public_id(key),
            "hash": bytes(32),
            "name": "Key",
        },
        "web_sessions": {
            "id": new_id(),
            "user_id": user,
            "key_id": key,
            "token_hash": new_id().bytes + new_id().bytes,
            "expires_at": LATER,
        },
        "agents": _agent(agent, user),
        "sessions": {"id": session, "owner_id": user, "agent_id": agent, "title": "Talk"},
        "runs": {
            "id": run,
            "session_id": session,
            "agent_id": agent,
            "owner_id": user,
            "key_id": key,
        },
    }
    rows |= _of_agent(agent, user) | _of_session(session, run)
    rows |= _records(agent=agent, session=session, run=run, user=user, key=key)
    owned = {name: {"tenant_id": tenant} | row for name, row in rows.items()}
    owned["tenants"] = {"id": tenant, "name": "Tenant"}
    return {table.name: owned[table.name] for table in metadata.sorted_tables}


def table(name: str) -> Table:
    """The table of this name."""
    return metadata.tables[name]


def store(connection: Connection, rows: dict[str, Row]) -> None:
    """Store all of them, as a role that may."""
    for name, row in rows.items():
        connection.execute(insert(table(name)).values(row))


def _agent(agent: UUID, user: UUID) -> Row:
    return {
        "id": agent,
        "owner_id": user,
        "name": "Agent",
        "model": "claude-sonnet-5-5",
        "max_tokens": 1024,
        "system_blocks": ["Be kind."],
        "tools": [],
        "parameters": {},
        "middleware": {},
        "subagents": [],
        "strategy": {},
    }


def _of_agent(agent: UUID, user: UUID) -> dict[str, Row]:
    return {
        "memory_files": {
            "agent_id": agent,
            "path": "/memories/AGENTS.md",
            "content": "Likes tea.",
            "sha256": SHA,
        },
        "skills": {"agent_id": agent, "name": "brew", "description": "Tea.", "body": "Boil."},
        "context_overrides": {
            "id": new_id(),
            "agent_id": agent,
            "part": "system:agent",
            "action": "exclude",
            "created_by": user,
        },
        "override_sets": {
            "id": new_id(),
            "agent_id": agent,
            "version": 1,
            "overrides": "[]",
            "created_by": user,
        },
    }


def _of_session(session: UUID, run: UUID) -> dict[str, Row]:
    summary = {
        "role": "user",
        "content": "[]",
        "tokens": 3,
        "counted_by": "someone",
        "preview": "So far",
        "sha256": SHA,
        "marks": "",
    }
    return {
        "messages": summary
        | {"session_id": session, "seq": 1, "tool_use_ids": "", "tool_result_ids": ""},
        "message_thinking": {"session_id": session, "seq": 1, "bare_sha256": SHA},
        "session_files": {
            "session_id": session,
            "path": "/plan.md",
            "content": "Tea",
            "sha256": SHA,
            "size_bytes": 3,
        },
        "todos": {
            "session_id": session,
            "position": 1,
            "content": "Boil water",
            "status": "pending",
        },
        "attachments": {
            "id": new_id(),
            "session_id": session,
            "name": "tea.txt",
            "media_type": "text/plain",
            "size_bytes": 3,
            "sha256": SHA,
            "content": b"tea",
        },
        "checkpoints": summary
        | {
            "id": new_id(),
            "session_id": session,
            "run_id": run,
            "version": 1,
            "kind": "summary",
            "trigger": "auto",
            "state": "completed",
            "covers_seq": 1,
            "label": "Summary",
            "origin": "test",
            "finished_at": LATER,
        },
    }


def _records(*, agent: UUID, session: UUID, run: UUID, user: UUID, key: UUID) -> dict[str, Row]:
    return {
        "tries": {
            "id": new_id(),
            "session_id": session,
            "owner_id": user,
            "key_id": key,
            "model": "claude-sonnet-5-5",
            "excluded": [],
            "added": [],
            "replaced": {},
        },
        "ablations": {
            "id": new_id(),
            "session_id": session,
            "owner_id": user,
            "key_id": key,
            "model": "claude-sonnet-5-5",
            "findings": {},
            "loaded": {},
        },
        "usage_records": {
            "id": new_id(),
            "purpose": "turn",
            "user_id": user,
            "key_id": key,
            "agent_id": agent,
            "session_id": session,
            "run_id": run,
            "call": 1,
            "provider": "offline",
            "model": "claude-sonnet-5-5",
            "outcome": "succeeded",
            "input_tokens": 10,
        },
        "quotas": {"period": "month", "tokens": 1_000, "micro_dollars": None},
        "quota_days": {"day": date(2026, 11, 30), "tokens": 10, "micro_dollars": 5},
        "quota_reservations": {
            "id": new_id(),
            "user_id": user,
            "tokens": 10,
            "micro_dollars": 5,
            "lease_until": LATER,
        },
        "http_tools": {
            "name": "weather",
            "description": "The weather.",
            "input_schema": {"type": "object"},
            "method": "GET",
            "url": "https://weather.example/now",
            "header_names": [],
            "timeout_seconds": 30,
        },
        "mcp_servers": {
            "name": "github",
            "url": "https://mcp.example/mcp",
            "header_names": [],
            "timeout_seconds": 30,
            "tools": [],
            "left_out": [],
            "listed_at": LATER,
        },
        "imports": {
            "id": new_id(),
            "owner_id": user,
            "agent_id": agent,
            "session_id": session,
            "format": "claude-code",
            "fingerprint": SHA,
            "content_hash": SHA,
            "report": {},
        },
        "audit_events": {
            "id": new_id(),
            "user_id": user,
            "key_id": key,
            "action": "agent.create",
            "target_kind": "agent",
            "target_id": str(agent),
            "outcome": "done",
            "detail": {},
        },
        "idempotency_keys": {
            "user_id": user,
            "method": "POST",
            "route": "/v1/sessions",
            "key": "once",
            "fingerprint": SHA,
            "status": 201,
            "resource": {},
            "expires_at": LATER,
        },
    }


def _public_id(key: UUID) -> str:
    return key.hex[-12:]
