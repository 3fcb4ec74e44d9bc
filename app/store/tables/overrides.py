"""Context overrides of agents (system and tool parts) and of sessions (messages, the summary)."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Index, Integer, Table, UniqueConstraint, Uuid
from sqlalchemy import text as sql

from app.store.tables.columns import (
    id_key,
    made_at,
    metadata,
    of_tenant,
    refers,
    tenant_key,
    text,
)

context_overrides = Table(
    "context_overrides",
    metadata,
    tenant_key(),
    id_key(),
    Column("agent_id", Uuid),
    Column("session_id", Uuid),
    text("part"),
    text("action"),
    text("replacement", nullable=True),
    text("reason", nullable=True),
    # Of the part as it was when it was replaced: another hash later means that its base changed.
    text("base_sha256", nullable=True),
    Column("created_by", Uuid, nullable=False),
    made_at(),
    of_tenant(),
    refers("agent_id", "agents", ondelete="CASCADE"),
    refers("session_id", "sessions", ondelete="CASCADE"),
    refers("created_by", "users"),
    Index(
        "uq_context_overrides_agent_part",
        "tenant_id",
        "agent_id",
        "part",
        unique=True,
        postgresql_where=sql("agent_id IS NOT NULL"),
    ),
    Index(
        "uq_context_overrides_session_part",
        "tenant_id",
        "session_id",
        "part",
        unique=True,
        postgresql_where=sql("session_id IS NOT NULL"),
    ),
    CheckConstraint("action IN ('exclude', 'replace')", name="action"),
    CheckConstraint("num_nonnulls(agent_id, session_id) = 1", name="one_target"),
    CheckConstraint(
        "(action = 'replace') = (replacement IS NOT NULL)", name="replacement_with_replace"
    ),
    CheckConstraint(
        "agent_id IS NULL OR part LIKE 'system:%' OR part LIKE 'tool:%'", name="agent_part"
    ),
    CheckConstraint(
        "session_id IS NULL OR part LIKE 'message:%' OR part = 'summary'", name="session_part"
    ),
    # A changed schema would no longer fit the validation of the tool's arguments.
    CheckConstraint("action = 'exclude' OR part NOT LIKE 'tool:%'", name="no_tool_replace"),
    CheckConstraint("char_length(part) <= 512", name="part_length"),
    CheckConstraint("base_sha256 ~ '^[0-9a-f]{64}$'", name="base_sha256"),
)

# What a target's whole set was, each time that it changed: the newest one is in force.
override_sets = Table(
    "override_sets",
    metadata,
    tenant_key(),
    id_key(),
    Column("agent_id", Uuid),
    Column("session_id", Uuid),
    Column("version", Integer, nullable=False),
    text("overrides"),  # as JSON; its texts are clean
    text("reason", nullable=True),
    Column("created_by", Uuid, nullable=False),
    made_at(),
    of_tenant(),
    refers("agent_id", "agents", ondelete="CASCADE"),
    refers("session_id", "sessions", ondelete="CASCADE"),
    refers("created_by", "users"),
    UniqueConstraint("tenant_id", "agent_id", "version"),
    UniqueConstraint("tenant_id", "session_id", "version"),
    CheckConstraint("num_nonnulls(agent_id, session_id) = 1", name="one_target"),
    CheckConstraint("version > 0", name="version"),
)
