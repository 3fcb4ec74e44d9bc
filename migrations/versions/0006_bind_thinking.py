"""What tells whether a message's thinking can go back to the provider."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

TENANT = "(SELECT nullif(current_setting('hango.tenant', true), '')::uuid)"
SYSTEM = "(SELECT current_setting('hango.system', true) = 'on')"


def upgrade() -> None:
    op.create_table(
        "message_thinking",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("bare_sha256", sa.Text(), nullable=False),
        sa.Column("prefix_sha256", sa.Text(), nullable=True),
        sa.Column("after_seq", sa.Integer(), nullable=True),
        sa.Column("retired", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.CheckConstraint(
            "bare_sha256 ~ '^[0-9a-f]{64}$'", name=op.f("ck_message_thinking_bare_sha256")
        ),
        sa.CheckConstraint(
            "prefix_sha256 ~ '^[0-9a-f]{64}$'", name=op.f("ck_message_thinking_prefix_sha256")
        ),
        sa.CheckConstraint("after_seq < seq", name=op.f("ck_message_thinking_after_seq")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id", "seq"],
            ["messages.tenant_id", "messages.session_id", "messages.seq"],
            name=op.f("fk_message_thinking_tenant_id_session_id_seq"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "seq", name=op.f("pk_message_thinking")),
    )
    visible = f"tenant_id = {TENANT} OR {SYSTEM}"
    op.execute("ALTER TABLE message_thinking ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE message_thinking FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON message_thinking USING ({visible}) WITH CHECK ({visible})")


def downgrade() -> None:
    op.drop_table("message_thinking")
