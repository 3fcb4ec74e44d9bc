"""THE authorization table: endpoint → who may call it. An endpoint without a row fails the start.

What of a tenant's rows a principal then sees is decided in the store; this table only says who gets
that far. A member at an admin's endpoint is told 404, as for any other thing that is not its own.
"""

from __future__ import annotations

from enum import Enum, auto

from flask import Flask

from app.domain.principals import Principal
from app.errors import NotFound


class Who(Enum):
    """Who may call an endpoint."""

    ANYONE = auto()  # without a key
    SIGNED_IN = auto()  # whoever shows the cookie of the admin page; a key alone does not do
    MEMBER = auto()  # any user, on what it may see
    ADMIN = auto()  # the tenant's admins


ACCESS: dict[str, Who] = {
    "operations.alive": Who.ANYONE,
    "operations.ready": Who.ANYONE,
    "operations.metrics": Who.ANYONE,  # with a token of its own: see there
    "admin_page.home": Who.ANYONE,
    "admin_page.admin_page": Who.ANYONE,
    "pages.openapi": Who.ANYONE,
    "pages.docs": Who.ANYONE,
    "pages.error_docs": Who.ANYONE,
    "web_session.create_web_session": Who.ANYONE,
    "web_session.get_web_session": Who.SIGNED_IN,
    "web_session.delete_web_session": Who.SIGNED_IN,
    "me.get_me": Who.MEMBER,
    "agents.create_agent": Who.MEMBER,
    "agents.list_agents": Who.MEMBER,
    "agents.get_agent": Who.MEMBER,
    "agents.change_agent": Who.MEMBER,
    "agents.delete_agent": Who.MEMBER,
    "sessions.create_session": Who.MEMBER,
    "sessions.list_sessions": Who.MEMBER,
    "sessions.get_session": Who.MEMBER,
    "sessions.change_session": Who.MEMBER,
    "sessions.delete_session": Who.MEMBER,
    "messages.append_messages": Who.MEMBER,
    "messages.list_messages": Who.MEMBER,
    "context.get_context": Who.MEMBER,
    "overrides.get_session_overrides": Who.MEMBER,
    "overrides.put_session_overrides": Who.MEMBER,
    "overrides.preview_session_overrides": Who.MEMBER,
    "overrides.list_session_override_sets": Who.MEMBER,
    "overrides.restore_session_overrides": Who.MEMBER,
    "overrides.get_agent_overrides": Who.MEMBER,
    "overrides.put_agent_overrides": Who.MEMBER,
    "overrides.preview_agent_overrides": Who.MEMBER,
    "overrides.list_agent_override_sets": Who.MEMBER,
    "overrides.restore_agent_overrides": Who.MEMBER,
    "memory.list_memory": Who.MEMBER,
    "memory.get_memory": Who.MEMBER,
    "memory.put_memory": Who.MEMBER,
    "memory.delete_memory": Who.MEMBER,
    "skills.list_skills": Who.MEMBER,
    "skills.get_skill": Who.MEMBER,
    "skills.put_skill": Who.MEMBER,
    "skills.delete_skill": Who.MEMBER,
    "tools.list_tools": Who.MEMBER,
    "tools.get_tool": Who.ADMIN,
    "tools.put_tool": Who.ADMIN,
    "tools.delete_tool": Who.ADMIN,
    "mcp_servers.list_mcp_servers": Who.ADMIN,
    "mcp_servers.get_mcp_server": Who.ADMIN,
    "mcp_servers.put_mcp_server": Who.ADMIN,
    "mcp_servers.refresh_mcp_server": Who.ADMIN,
    "mcp_servers.delete_mcp_server": Who.ADMIN,
    "files.list_files": Who.MEMBER,
    "files.get_file": Who.MEMBER,
    "files.put_file": Who.MEMBER,
    "files.delete_file": Who.MEMBER,
    "attachments.create_attachment": Who.MEMBER,
    "attachments.list_attachments": Who.MEMBER,
    "attachments.get_attachment": Who.MEMBER,
    "attachments.download_attachment": Who.MEMBER,
    "attachments.delete_attachment": Who.MEMBER,
    "imports.create_import": Who.MEMBER,
    "runs.create_run": Who.MEMBER,
    "runs.list_runs": Who.MEMBER,
    "runs.get_run": Who.MEMBER,
    "runs.cancel_run": Who.MEMBER,
    "runs.follow_run": Who.MEMBER,
    "runs.list_calls": Who.MEMBER,
    "runs.get_call": Who.MEMBER,
    "runs.compare_calls": Who.MEMBER,
    "tries.create_try": Who.MEMBER,
    "tries.list_tries": Who.MEMBER,
    "tries.get_try": Who.MEMBER,
    "tries.compare_tries": Who.MEMBER,
    "tries.cancel_try": Who.MEMBER,
    "ablations.preview_ablation": Who.MEMBER,
    "ablations.create_ablation": Who.MEMBER,
    "ablations.list_ablations": Who.MEMBER,
    "ablations.get_ablation": Who.MEMBER,
    "ablations.cancel_ablation": Who.MEMBER,
    "usage.get_usage": Who.MEMBER,
    "usage.get_usage_estimates": Who.MEMBER,
    "quota.get_quota": Who.MEMBER,
    "quota.put_quota": Who.ADMIN,
    "keys.create_key": Who.MEMBER,
    "keys.list_keys": Who.MEMBER,
    "keys.revoke_key": Who.MEMBER,
    "users.create_user": Who.ADMIN,
    "users.list_users": Who.ADMIN,
    "users.get_user": Who.ADMIN,
    "users.change_user": Who.ADMIN,
    "tenant.get_tenant": Who.MEMBER,
    "tenant.change_tenant": Who.ADMIN,
    "audit.list_audit": Who.MEMBER,
}

# Endpoints that spend money with a provider. While Redis is down their rate cannot be limited, so
# they are closed; all others stay open.
COSTS_MONEY: frozenset[str] = frozenset(
    {"runs.create_run", "tries.create_try", "ablations.create_ablation"}
)


class EndpointWithoutAccess(Exception):
    """Somebody added an endpoint and did not say who may call it."""


def check_table(app: Flask) -> None:
    """Stop the start when an endpoint has no row.

    Raises:
        EndpointWithoutAccess: names those without.
    """
    missing = {rule.endpoint for rule in app.url_map.iter_rules()} - ACCESS.keys()
    if missing:
        raise EndpointWithoutAccess(f"No row in app/api/access.py for {', '.join(sorted(missing))}")


def needs_key(endpoint: str) -> bool:
    """Whether the endpoint is closed to those who show no key."""
    return ACCESS[endpoint] is not Who.ANYONE


def needs_cookie(endpoint: str) -> bool:
    """Whether the endpoint is about the web session itself."""
    return ACCESS[endpoint] is Who.SIGNED_IN


def check(endpoint: str, principal: Principal) -> None:
    """Go on only when the principal may call the endpoint.

    Raises:
        NotFound: it may not, and need not know that the endpoint exists.
    """
    if ACCESS[endpoint] is Who.ADMIN and not principal.is_admin:
        raise NotFound
