"""A helper's session knows the helper, and its run the call that it answers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

IS_TASK = sa.text("parent_run_id IS NOT NULL")


def upgrade() -> None:
    op.add_column("sessions", sa.Column("helper", sa.Text(), nullable=True))
    op.create_check_constraint(
        op.f("ck_sessions_helper_has_call"),
        "sessions",
        "helper IS NULL OR parent_tool_use_id IS NOT NULL",
    )
    op.add_column("runs", sa.Column("parent_tool_use_id", sa.Text(), nullable=True))
    op.create_check_constraint(
        op.f("ck_runs_task_has_parent"),
        "runs",
        "(parent_run_id IS NULL) = (parent_tool_use_id IS NULL)",
    )
    op.create_check_constraint(
        op.f("ck_runs_task_never_waits"), "runs", "parent_run_id IS NULL OR status <> 'queued'"
    )
    op.drop_index(op.f("ix_runs_tenant_id_parent_run_id"), table_name="runs")
    op.create_index(
        "uq_runs_task",
        "runs",
        ["tenant_id", "parent_run_id", "parent_tool_use_id"],
        unique=True,
        postgresql_where=IS_TASK,
    )


def downgrade() -> None:
    op.drop_index("uq_runs_task", table_name="runs")
    op.create_index(
        op.f("ix_runs_tenant_id_parent_run_id"),
        "runs",
        ["tenant_id", "parent_run_id"],
        postgresql_where=IS_TASK,
    )
    op.drop_constraint(op.f("ck_runs_task_never_waits"), "runs")
    op.drop_constraint(op.f("ck_runs_task_has_parent"), "runs")
    op.drop_column("runs", "parent_tool_use_id")
    op.drop_constraint(op.f("ck_sessions_helper_has_call"), "sessions")
    op.drop_column("sessions", "helper")
