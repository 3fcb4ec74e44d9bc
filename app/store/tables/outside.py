"""Tools from outside that tenants have registered."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Integer, Table, Text

from app.store.tables.columns import (
    Instant,
    json_text,
    made_at,
    metadata,
    of_tenant,
    tenant_key,
    text,
)

http_tools = Table(
    "http_tools",
    metadata,
    tenant_key(),
    Column("name", Text, primary_key=True),
    text("description"),
    json_text("input_schema"),
    text("method"),
    text("url"),
    json_text("header_names"),
    text("sealed_headers", nullable=True),  # of a JSON object; NULL: there are none
    Column("timeout_seconds", Integer, nullable=False),
    Column("version", Integer, nullable=False, server_default="1"),
    made_at(),
    made_at("updated_at"),
    of_tenant(),
    CheckConstraint("length(name) BETWEEN 1 AND 64", name="name_length"),
    CheckConstraint("method IN ('GET', 'POST', 'PUT', 'PATCH', 'DELETE')", name="method"),
    CheckConstraint("timeout_seconds BETWEEN 1 AND 300", name="timeout_seconds"),
    CheckConstraint("version > 0", name="version"),
)

mcp_servers = Table(
    "mcp_servers",
    metadata,
    tenant_key(),
    Column("name", Text, primary_key=True),
    text("url"),
    json_text("header_names"),
    text("sealed_headers", nullable=True),
    Column("timeout_seconds", Integer, nullable=False),
    json_text("allowed_tools", nullable=True),  # NULL: all
    json_text("tools"),  # as the server listed them at `listed_at`
    json_text("left_out"),
    Column("listed_at", Instant, nullable=False),
    Column("version", Integer, nullable=False, server_default="1"),
    made_at(),
    made_at("updated_at"),
    of_tenant(),
    CheckConstraint("length(name) BETWEEN 1 AND 32", name="name_length"),
    CheckConstraint("timeout_seconds BETWEEN 1 AND 300", name="timeout_seconds"),
    CheckConstraint("version > 0", name="version"),
)
