"""HTTP tools and MCP servers that tenants have registered."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

TABLES = ("http_tools", "mcp_servers")

TENANT = "(SELECT nullif(current_setting('hango.tenant', true), '')::uuid)"
SYSTEM = "(SELECT current_setting('hango.system', true) = 'on')"


def upgrade() -> None:
    op.create_table(
        "http_tools",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("input_schema", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        *_shared(),
        sa.CheckConstraint("length(name) BETWEEN 1 AND 64", name=op.f("ck_http_tools_name_length")),
        sa.CheckConstraint(
            "method IN ('GET', 'POST', 'PUT', 'PATCH', 'DELETE')", name=op.f("ck_http_tools_method")
        ),
        *_constraints("http_tools"),
    )
    op.create_table(
        "mcp_servers",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("allowed_tools", sa.Text(), nullable=True),
        sa.Column("tools", sa.Text(), nullable=False),
        sa.Column("left_out", sa.Text(), nullable=False),
        sa.Column("listed_at", sa.DateTime(timezone=True), nullable=False),
        *_shared(),
        sa.CheckConstraint(
            "length(name) BETWEEN 1 AND 32", name=op.f("ck_mcp_servers_name_length")
        ),
        *_constraints("mcp_servers"),
    )
    for table in TABLES:
        visible = f"tenant_id = {TENANT} OR {SYSTEM}"
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant ON {table} USING ({visible}) WITH CHECK ({visible})")


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)


def _shared() -> list[sa.Column]:
    def made_at(name: str) -> sa.Column:
        now = sa.text("now()")
        return sa.Column(name, sa.DateTime(timezone=True), server_default=now, nullable=False)

    return [
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("header_names", sa.Text(), nullable=False),
        sa.Column("sealed_headers", sa.Text(), nullable=True),
        sa.Column("timeout_seconds", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        made_at("created_at"),
        made_at("updated_at"),
    ]


def _constraints(table: str) -> list[sa.Constraint]:
    return [
        sa.CheckConstraint(
            "timeout_seconds BETWEEN 1 AND 300", name=op.f(f"ck_{table}_timeout_seconds")
        ),
        sa.CheckConstraint("version > 0", name=op.f(f"ck_{table}_version")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f(f"fk_{table}_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "name", name=op.f(f"pk_{table}")),
    ]
