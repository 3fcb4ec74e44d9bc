"""What was done: imports, audited actions, answers to repeatable requests."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Index, Integer, Table, UniqueConstraint, Uuid

from app.store.tables.columns import (
    id_key,
    instant,
    json_text,
    made_at,
    metadata,
    of_tenant,
    refers,
    tenant_key,
    text,
)

imports = Table(
    "imports",
    metadata,
    tenant_key(),
    id_key(),
    Column("owner_id", Uuid, nullable=False),
    Column("agent_id", Uuid, nullable=False),
    Column("session_id", Uuid, nullable=False),
    text("format"),
    text("fingerprint"),
    text("content_hash"),
    text("source_session_id", nullable=True),
    text("last_record_id", nullable=True),
    json_text("report"),
    made_at(),
    of_tenant(),
    refers("owner_id", "users"),
    refers("agent_id", "agents", ondelete="CASCADE"),
    refers("session_id", "sessions", ondelete="CASCADE"),
    # Of the owner too: a member must not learn what another has imported.
    UniqueConstraint("tenant_id", "owner_id", "fingerprint"),
    Index(None, "tenant_id", "session_id"),
    Index(None, "tenant_id", "agent_id"),
    CheckConstraint("fingerprint ~ '^[0-9a-f]{64}$'", name="fingerprint"),
    CheckConstraint("content_hash ~ '^[0-9a-f]{64}$'", name="content_hash"),
)

# Append-only: the role that serves requests may neither change nor delete rows, and a trigger
# refuses it to everybody.
audit_events = Table(
    "audit_events",
    metadata,
    tenant_key(),
    id_key(),
    made_at("at"),
    Column("user_id", Uuid),
    Column("key_id", Uuid),
    text("action"),
    text("target_kind"),
    text("target_id"),
    text("outcome"),
    json_text("detail"),
    text("request_id", nullable=True),
    text("trace_id", nullable=True),
    text("address", nullable=True),
    of_tenant(),
    refers("user_id", "users"),
    refers("key_id", "api_keys"),
    CheckConstraint("action ~ '^[a-z]+[.][a-z_]+$'", name="action"),
    CheckConstraint("outcome IN ('done', 'refused')", name="outcome"),
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    tenant_key(),
    Column("user_id", Uuid, primary_key=True),
    text("method", primary_key=True),
    text("route", primary_key=True),
    text("key", primary_key=True),
    text("fingerprint"),
    Column("status", Integer, nullable=False),
    text("location", nullable=True),
    json_text("resource"),
    made_at(),
    Column("expires_at", instant("expires_at").type, nullable=False),
    of_tenant(),
    refers("user_id", "users"),
    Index("ix_idempotency_keys_expires_at", "expires_at"),
    CheckConstraint("char_length(key) BETWEEN 1 AND 255", name="key_length"),
    CheckConstraint("fingerprint ~ '^[0-9a-f]{64}$'", name="fingerprint"),
    CheckConstraint("status BETWEEN 200 AND 299", name="status"),
)
