"""Row-level security for every table of a tenant, and an audit that only grows."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TABLES = (
    "agents",
    "api_keys",
    "attachments",
    "audit_events",
    "checkpoints",
    "context_overrides",
    "idempotency_keys",
    "imports",
    "memory_files",
    "messages",
    "runs",
    "session_files",
    "sessions",
    "skills",
    "todos",
    "tries",
    "usage_records",
    "users",
)

# A sub-select is asked once per statement and not once per row. An unset variable reads '' in a
# connection that has had it before, and '' is no UUID.
TENANT = "(SELECT nullif(current_setting('hango.tenant', true), '')::uuid)"
SYSTEM = "(SELECT current_setting('hango.system', true) = 'on')"


def upgrade() -> None:
    for table, column in _isolated():
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        # The owner of the tables is held to it as well, for where one role does all.
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        visible = f"{column} = {TENANT} OR {SYSTEM}"
        op.execute(f"CREATE POLICY tenant ON {table} USING ({visible}) WITH CHECK ({visible})")
    op.execute(
        """
        CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          RAISE EXCEPTION '% is append-only', TG_TABLE_NAME
            USING ERRCODE = 'insufficient_privilege';
        END $$
        """
    )
    op.execute(
        """
        CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_events
           FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()
        """
    )


def downgrade() -> None:
    op.execute("DROP TRIGGER append_only ON audit_events")
    op.execute("DROP FUNCTION refuse_change()")
    for table, _ in _isolated():
        op.execute(f"DROP POLICY tenant ON {table}")
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")


def _isolated() -> list[tuple[str, str]]:
    return [("tenants", "id"), *((table, "tenant_id") for table in TABLES)]
