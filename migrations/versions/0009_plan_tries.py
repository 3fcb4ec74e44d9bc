"""What a try is going to send is settled when it is accepted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tries", sa.Column("loaded", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("tries", "loaded")
