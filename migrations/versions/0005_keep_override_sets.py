"""The last sets of overrides that each target has had."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

TENANT = "(SELECT nullif(current_setting('hango.tenant', true), '')::uuid)"
SYSTEM = "(SELECT current_setting('hango.system', true) = 'on')"


def upgrade() -> None:
    op.create_table(
        "override_sets",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("session_id", sa.Uuid(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("overrides", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created_by", sa.Uuid(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.CheckConstraint(
            "num_nonnulls(agent_id, session_id) = 1", name=op.f("ck_override_sets_one_target")
        ),
        sa.CheckConstraint("version > 0", name=op.f("ck_override_sets_version")),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_override_sets_tenant_id")
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "agent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_override_sets_tenant_id_agent_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["sessions.tenant_id", "sessions.id"],
            name=op.f("fk_override_sets_tenant_id_session_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "created_by"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_override_sets_tenant_id_created_by"),
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_override_sets")),
        sa.UniqueConstraint(
            "tenant_id",
            "agent_id",
            "version",
            name=op.f("uq_override_sets_tenant_id_agent_id_version"),
        ),
        sa.UniqueConstraint(
            "tenant_id",
            "session_id",
            "version",
            name=op.f("uq_override_sets_tenant_id_session_id_version"),
        ),
    )
    visible = f"tenant_id = {TENANT} OR {SYSTEM}"
    op.execute("ALTER TABLE override_sets ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE override_sets FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON override_sets USING ({visible}) WITH CHECK ({visible})")


def downgrade() -> None:
    op.drop_table("override_sets")
