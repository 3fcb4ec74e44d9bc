"""Agents, their memory and their skills."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Index,
    Integer,
    Table,
    Uuid,
)
from sqlalchemy import (
    text as sql,
)

from app.store.tables.columns import (
    id_key,
    json_text,
    made_at,
    metadata,
    of_tenant,
    refers,
    tenant_key,
    text,
)

agents = Table(
    "agents",
    metadata,
    tenant_key(),
    id_key(),
    Column("owner_id", Uuid, nullable=False),
    text("name"),
    text("model"),
    Column("max_tokens", Integer, nullable=False),
    json_text("system_blocks"),
    json_text("tools"),
    json_text("tool_choice", nullable=True),
    json_text("parameters"),
    json_text("middleware"),
    json_text("subagents"),
    json_text("injections", server_default="[]"),
    # Of a JSON object: headers by the names of the hooks; NULL: there are none.
    text("sealed_hook_headers", nullable=True),
    json_text("strategy"),
    Column("shared", Boolean, nullable=False, server_default=sql("false")),
    Column("version", Integer, nullable=False, server_default=sql("1")),
    made_at(),
    made_at("updated_at"),
    of_tenant(),
    refers("owner_id", "users"),
    Index(None, "tenant_id", "owner_id", "id"),
    CheckConstraint("char_length(name) BETWEEN 1 AND 200", name="name_length"),
    CheckConstraint("char_length(model) BETWEEN 1 AND 200", name="model_length"),
    CheckConstraint("max_tokens >= 1", name="max_tokens"),
    CheckConstraint("version >= 1", name="version"),
)

memory_files = Table(
    "memory_files",
    metadata,
    tenant_key(),
    Column("agent_id", Uuid, primary_key=True),
    text("path", primary_key=True),
    text("content"),
    Column("version", Integer, nullable=False, server_default=sql("1")),
    text("sha256"),
    made_at(),
    made_at("updated_at"),
    refers("agent_id", "agents", ondelete="CASCADE"),
    CheckConstraint("path LIKE '/memories/_%' AND char_length(path) <= 400", name="path"),
    CheckConstraint("version >= 1", name="version"),
    CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name="sha256"),
)

skills = Table(
    "skills",
    metadata,
    tenant_key(),
    Column("agent_id", Uuid, primary_key=True),
    text("name", primary_key=True),
    text("description"),
    text("body"),
    json_text("allowed_tools", nullable=True),
    Column("version", Integer, nullable=False, server_default=sql("1")),
    made_at(),
    made_at("updated_at"),
    refers("agent_id", "agents", ondelete="CASCADE"),
    CheckConstraint("char_length(name) BETWEEN 1 AND 64", name="name_length"),
    CheckConstraint("version >= 1", name="version"),
)
