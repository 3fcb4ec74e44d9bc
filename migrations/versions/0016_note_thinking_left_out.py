"""How many blocks of thinking the provider has left out of a call is kept."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

NAME = "ck_usage_records_thinking_left_out"


def upgrade() -> None:
    op.add_column("usage_records", sa.Column("thinking_left_out", sa.Integer(), nullable=True))
    op.create_check_constraint(op.f(NAME), "usage_records", "thinking_left_out >= 0")


def downgrade() -> None:
    op.drop_constraint(op.f(NAME), "usage_records", type_="check")
    op.drop_column("usage_records", "thinking_left_out")
