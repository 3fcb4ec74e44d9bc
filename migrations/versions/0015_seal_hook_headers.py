"""Context hooks have headers, whose values are sealed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("agents", sa.Column("sealed_hook_headers", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("agents", "sealed_hook_headers")
