"""The schema as SQLAlchemy Core tables, one file a group; they never leave app/store.

Every table of a tenant has `tenant_id` first in its primary key and in each unique constraint, so
that no duplicate error tells one tenant what another has; and every foreign key carries it along,
since PostgreSQL checks foreign keys past row-level security. The exceptions are the public id of an
API key and the hash of a web session's token: both are looked up before anybody knows the tenant,
and are random.
"""

from app.store.tables.agents import agents, memory_files, skills
from app.store.tables.columns import metadata
from app.store.tables.identity import api_keys, tenants, users, web_sessions
from app.store.tables.outside import http_tools, mcp_servers
from app.store.tables.overrides import context_overrides, override_sets
from app.store.tables.quota import quota_days, quota_reservations, quotas
from app.store.tables.records import audit_events, idempotency_keys, imports
from app.store.tables.sessions import (
    attachments,
    message_thinking,
    messages,
    session_files,
    sessions,
    todos,
)
from app.store.tables.work import ablations, checkpoints, runs, tries, usage_records

__all__ = [
    "ablations",
    "agents",
    "api_keys",
    "attachments",
    "audit_events",
    "checkpoints",
    "context_overrides",
    "http_tools",
    "idempotency_keys",
    "imports",
    "mcp_servers",
    "memory_files",
    "message_thinking",
    "messages",
    "metadata",
    "override_sets",
    "quota_days",
    "quota_reservations",
    "quotas",
    "runs",
    "session_files",
    "sessions",
    "skills",
    "tenants",
    "todos",
    "tries",
    "usage_records",
    "users",
    "web_sessions",
]
