"""Ablations: which tries they are made of, and what is left to do."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

TENANT = "(SELECT nullif(current_setting('hango.tenant', true), '')::uuid)"
SYSTEM = "(SELECT current_setting('hango.system', true) = 'on')"


def upgrade() -> None:
    op.create_table(
        "ablations",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("key_id", sa.Uuid(), nullable=True),
        sa.Column("status", sa.Text(), server_default="running", nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("max_cost_micro_dollars", sa.BigInteger(), nullable=True),
        sa.Column("findings", sa.Text(), nullable=False),
        sa.Column("loaded", sa.Text(), nullable=True),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("cancel_requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("error_detail", sa.Text(), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "status IN ('running', 'succeeded', 'failed', 'cancelled')",
            name=op.f("ck_ablations_status"),
        ),
        sa.CheckConstraint(
            "(finished_at IS NULL) = (status = 'running')",
            name=op.f("ck_ablations_finished_when_final"),
        ),
        sa.CheckConstraint(
            "(loaded IS NULL) = (status <> 'running')",
            name=op.f("ck_ablations_loaded_while_running"),
        ),
        sa.CheckConstraint(
            "(error_code IS NOT NULL) = (status = 'failed')",
            name=op.f("ck_ablations_failed_says_why"),
        ),
        sa.CheckConstraint("max_cost_micro_dollars >= 0", name=op.f("ck_ablations_max_cost")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "key_id"],
            ["api_keys.tenant_id", "api_keys.id"],
            name=op.f("fk_ablations_tenant_id_key_id"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "owner_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_ablations_tenant_id_owner_id"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["sessions.tenant_id", "sessions.id"],
            name=op.f("fk_ablations_tenant_id_session_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_ablations_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_ablations")),
    )
    op.create_index(
        op.f("ix_ablations_tenant_id_session_id_id"),
        "ablations",
        ["tenant_id", "session_id", "id"],
        unique=False,
    )
    op.create_index(
        "ix_ablations_running",
        "ablations",
        ["created_at"],
        unique=False,
        postgresql_where=sa.text("status = 'running'"),
    )
    op.create_index("ix_ablations_expires_at", "ablations", ["expires_at"], unique=False)
    visible = f"tenant_id = {TENANT} OR {SYSTEM}"
    op.execute("ALTER TABLE ablations ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE ablations FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON ablations USING ({visible}) WITH CHECK ({visible})")


def downgrade() -> None:
    op.drop_table("ablations")
