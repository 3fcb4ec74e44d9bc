"""What the role that serves requests may do: it owns nothing, and cannot rewrite what must stay.

Rights are brought up to date after every migration, so that a new table or another role needs no
migration of its own.
"""

from __future__ import annotations

import structlog
from sqlalchemy import Connection, Inspector, inspect, text

from app.store.tables import metadata

log = structlog.get_logger(__name__)

_ALL = "SELECT, INSERT, UPDATE, DELETE"
_ADD_ONLY = "SELECT, INSERT"

# Deleting a session takes its messages along: that is the database's own doing, which asks the
# rights of the tables' owner.
_SPECIAL = {
    "tenants": "SELECT, INSERT, UPDATE",
    "users": "SELECT, INSERT, UPDATE",
    "api_keys": "SELECT, INSERT, UPDATE",
    "messages": f"{_ADD_ONLY}, UPDATE (tokens, counted_by)",
    "audit_events": _ADD_ONLY,
    "usage_records": "SELECT, INSERT, UPDATE",
    "quotas": "SELECT, INSERT, UPDATE",
    "quota_days": "SELECT, INSERT, UPDATE",
    "alembic_version": "SELECT",
}


def grant(connection: Connection, role: str) -> None:
    """Give `role` its rights on the tables that are there, and take every other right away.

    A role that does not exist, or that owns the tables, is left alone: where one role does all,
    row-level security and the trigger on audit_events still hold for it, unless it is a superuser.
    """
    found = connection.execute(
        text("SELECT rolname = current_user FROM pg_roles WHERE rolname = :role"), {"role": role}
    ).scalar()
    if found is None:
        log.warning("app_role_missing", role=role)
    if found is not False:
        return
    quoted = connection.dialect.identifier_preparer.quote_identifier(role)
    for table in _present(inspect(connection)):
        rights = _SPECIAL.get(table, _ALL)
        connection.execute(text(f"REVOKE ALL ON {table} FROM {quoted}"))
        connection.execute(text(f"GRANT {rights} ON {table} TO {quoted}"))


def _present(inspector: Inspector) -> list[str]:
    known = {*metadata.tables, "alembic_version"}
    return sorted(known.intersection(inspector.get_table_names()))
