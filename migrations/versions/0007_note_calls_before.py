"""A model call is on record before it is made, with an outcome that is not known yet."""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

NAME = "ck_usage_records_outcome"
OLD = "outcome IN ('succeeded', 'failed', 'timed_out', 'cancelled')"
NEW = "outcome IN ('unknown', 'succeeded', 'failed', 'timed_out', 'cancelled')"


def upgrade() -> None:
    op.drop_constraint(op.f(NAME), "usage_records", type_="check")
    op.create_check_constraint(op.f(NAME), "usage_records", NEW)


def downgrade() -> None:
    op.execute("UPDATE usage_records SET outcome = 'failed' WHERE outcome = 'unknown'")
    op.drop_constraint(op.f(NAME), "usage_records", type_="check")
    op.create_check_constraint(op.f(NAME), "usage_records", OLD)
