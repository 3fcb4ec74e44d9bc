"""Tenants, users, API keys and web sessions."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Index,
    LargeBinary,
    Table,
    UniqueConstraint,
    Uuid,
)
from sqlalchemy import (
    text as sql,
)

from app.store.tables.columns import (
    Instant,
    id_key,
    instant,
    made_at,
    metadata,
    of_tenant,
    refers,
    tenant_key,
    text,
)

tenants = Table(
    "tenants",
    metadata,
    id_key(),
    text("name"),
    Column("trace_llm_content", Boolean, nullable=False, server_default=sql("false")),
    made_at(),
    CheckConstraint("char_length(name) BETWEEN 1 AND 200", name="name_length"),
)

users = Table(
    "users",
    metadata,
    tenant_key(),
    id_key(),
    text("name"),
    text("role"),
    made_at(),
    instant("disabled_at"),
    of_tenant(),
    UniqueConstraint("tenant_id", "name"),
    CheckConstraint("char_length(name) BETWEEN 1 AND 200", name="name_length"),
    CheckConstraint("role IN ('admin', 'member')", name="role"),
)

api_keys = Table(
    "api_keys",
    metadata,
    tenant_key(),
    id_key(),
    Column("user_id", Uuid, nullable=False),
    text("public_id"),
    Column("hash", LargeBinary, nullable=False),
    text("name"),
    Column("created_by", Uuid),
    made_at(),
    instant("last_used_at"),
    instant("expires_at"),
    instant("revoked_at"),
    of_tenant(),
    refers("user_id", "users"),
    refers("created_by", "users"),
    UniqueConstraint("public_id"),
    CheckConstraint("public_id ~ '^[0-9A-Za-z]{12}$'", name="public_id"),
    CheckConstraint("octet_length(hash) = 32", name="hash_length"),
    CheckConstraint("char_length(name) BETWEEN 1 AND 200", name="name_length"),
)

web_sessions = Table(
    "web_sessions",
    metadata,
    tenant_key(),
    id_key(),
    Column("user_id", Uuid, nullable=False),
    Column("key_id", Uuid, nullable=False),
    Column("token_hash", LargeBinary, nullable=False),
    made_at(),
    made_at("last_used_at"),
    Column("expires_at", Instant, nullable=False),
    of_tenant(),
    refers("user_id", "users"),
    refers("key_id", "api_keys"),
    UniqueConstraint("token_hash"),
    Index(None, "expires_at"),
    CheckConstraint("octet_length(token_hash) = 32", name="token_hash_length"),
)
