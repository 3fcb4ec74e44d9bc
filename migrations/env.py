"""How a migration runs: alone, not waiting long for locks, all of it or nothing.

app/store/migrate.py hands over the connection, and the role that serves requests.
"""

from __future__ import annotations

from alembic import context
from sqlalchemy import text

from app.store.rights import grant
from app.store.tables import metadata

# Any number will do, as long as it stays the same: two migrations at once take turns.
_ADVISORY_LOCK = 4_846_731_962

# A migration that waits for a lock makes every later query on that table wait behind it.
_LOCK_TIMEOUT = "10s"

connection = context.config.attributes["connection"]
app_role = context.config.attributes["app_role"]

context.configure(
    connection=connection,
    target_metadata=metadata,
    compare_server_default=True,
    user_module_prefix="",
)

with context.begin_transaction():
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})
    connection.execute(text(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'"))
    context.run_migrations()
    if app_role is not None:
        grant(connection, app_role)
