"""What tenants may use, have used, and have reserved."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

TABLES = ("quotas", "quota_days", "quota_reservations")

TENANT = "(SELECT nullif(current_setting('hango.tenant', true), '')::uuid)"
SYSTEM = "(SELECT current_setting('hango.system', true) = 'on')"


def upgrade() -> None:
    op.create_table(
        "quotas",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("period", sa.Text(), server_default="month", nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=True),
        sa.Column("micro_dollars", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("period IN ('day', 'month')", name=op.f("ck_quotas_period")),
        sa.CheckConstraint(
            "least(tokens, micro_dollars) >= 0", name=op.f("ck_quotas_not_negative")
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_quotas_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", name=op.f("pk_quotas")),
    )
    op.create_table(
        "quota_days",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("micro_dollars", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "least(tokens, micro_dollars) >= 0", name=op.f("ck_quota_days_not_negative")
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_quota_days_tenant_id")
        ),
        sa.PrimaryKeyConstraint("tenant_id", "day", name=op.f("pk_quota_days")),
    )
    op.create_table(
        "quota_reservations",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("micro_dollars", sa.BigInteger(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "least(tokens, micro_dollars) >= 0", name=op.f("ck_quota_reservations_not_negative")
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_quota_reservations_tenant_id")
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "user_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_quota_reservations_tenant_id_user_id"),
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_quota_reservations")),
    )
    op.create_index(
        "ix_quota_reservations_held",
        "quota_reservations",
        ["tenant_id", "lease_until"],
        postgresql_where=sa.text("settled_at IS NULL"),
    )
    op.create_index("ix_quota_reservations_lease_until", "quota_reservations", ["lease_until"])
    for table in TABLES:
        _isolate(table)


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)


def _isolate(table: str) -> None:
    visible = f"tenant_id = {TENANT} OR {SYSTEM}"
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON {table} USING ({visible}) WITH CHECK ({visible})")
