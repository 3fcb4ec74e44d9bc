"""Somebody signed in on the admin page, by the hash of a cookie."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

TABLE = "web_sessions"

TENANT = "(SELECT nullif(current_setting('hango.tenant', true), '')::uuid)"
SYSTEM = "(SELECT current_setting('hango.system', true) = 'on')"


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("key_id", sa.Uuid(), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        _instant("created_at"),
        _instant("last_used_at"),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "octet_length(token_hash) = 32", name=op.f("ck_web_sessions_token_hash_length")
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_web_sessions_tenant_id")
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "user_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_web_sessions_tenant_id_user_id"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "key_id"],
            ["api_keys.tenant_id", "api_keys.id"],
            name=op.f("fk_web_sessions_tenant_id_key_id"),
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_web_sessions")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_web_sessions_token_hash")),
    )
    op.create_index(op.f("ix_web_sessions_expires_at"), TABLE, ["expires_at"])
    visible = f"tenant_id = {TENANT} OR {SYSTEM}"
    op.execute(f"ALTER TABLE {TABLE} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {TABLE} FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON {TABLE} USING ({visible}) WITH CHECK ({visible})")


def downgrade() -> None:
    op.drop_table(TABLE)


def _instant(name: str) -> sa.Column[object]:
    return sa.Column(
        name, sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
    )
