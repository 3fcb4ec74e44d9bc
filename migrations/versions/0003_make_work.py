"""Runs, tries, checkpoints, usage; overrides; imports, audit and idempotency keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "idempotency_keys",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("route", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("location", sa.Text(), nullable=True),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "fingerprint ~ '^[0-9a-f]{64}$'", name=op.f("ck_idempotency_keys_fingerprint")
        ),
        sa.CheckConstraint(
            "char_length(key) BETWEEN 1 AND 255", name=op.f("ck_idempotency_keys_key_length")
        ),
        sa.CheckConstraint("status BETWEEN 200 AND 299", name=op.f("ck_idempotency_keys_status")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "user_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_idempotency_keys_tenant_id_user_id"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_idempotency_keys_tenant_id")
        ),
        sa.PrimaryKeyConstraint(
            "tenant_id", "user_id", "method", "route", "key", name=op.f("pk_idempotency_keys")
        ),
    )
    op.create_index(
        "ix_idempotency_keys_expires_at", "idempotency_keys", ["expires_at"], unique=False
    )
    op.create_table(
        "audit_events",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column(
            "at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("key_id", sa.Uuid(), nullable=True),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("target_kind", sa.Text(), nullable=False),
        sa.Column("target_id", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=True),
        sa.Column("trace_id", sa.Text(), nullable=True),
        sa.Column("address", sa.Text(), nullable=True),
        sa.CheckConstraint("action ~ '^[a-z]+[.][a-z_]+$'", name=op.f("ck_audit_events_action")),
        sa.CheckConstraint("outcome IN ('done', 'refused')", name=op.f("ck_audit_events_outcome")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "key_id"],
            ["api_keys.tenant_id", "api_keys.id"],
            name=op.f("fk_audit_events_tenant_id_key_id"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "user_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_audit_events_tenant_id_user_id"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_audit_events_tenant_id")
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_audit_events")),
    )
    op.create_table(
        "context_overrides",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("session_id", sa.Uuid(), nullable=True),
        sa.Column("part", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("replacement", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("base_sha256", sa.Text(), nullable=True),
        sa.Column("created_by", sa.Uuid(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.CheckConstraint(
            "(action = 'replace') = (replacement IS NOT NULL)",
            name=op.f("ck_context_overrides_replacement_with_replace"),
        ),
        sa.CheckConstraint(
            "action = 'exclude' OR part NOT LIKE 'tool:%'",
            name=op.f("ck_context_overrides_no_tool_replace"),
        ),
        sa.CheckConstraint(
            "action IN ('exclude', 'replace')", name=op.f("ck_context_overrides_action")
        ),
        sa.CheckConstraint(
            "agent_id IS NULL OR part LIKE 'system:%' OR part LIKE 'tool:%'",
            name=op.f("ck_context_overrides_agent_part"),
        ),
        sa.CheckConstraint(
            "base_sha256 ~ '^[0-9a-f]{64}$'", name=op.f("ck_context_overrides_base_sha256")
        ),
        sa.CheckConstraint(
            "session_id IS NULL OR part LIKE 'message:%' OR part = 'summary'",
            name=op.f("ck_context_overrides_session_part"),
        ),
        sa.CheckConstraint(
            "char_length(part) <= 512", name=op.f("ck_context_overrides_part_length")
        ),
        sa.CheckConstraint(
            "num_nonnulls(agent_id, session_id) = 1", name=op.f("ck_context_overrides_one_target")
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "agent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_context_overrides_tenant_id_agent_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "created_by"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_context_overrides_tenant_id_created_by"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["sessions.tenant_id", "sessions.id"],
            name=op.f("fk_context_overrides_tenant_id_session_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_context_overrides_tenant_id")
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_context_overrides")),
    )
    op.create_index(
        "uq_context_overrides_agent_part",
        "context_overrides",
        ["tenant_id", "agent_id", "part"],
        unique=True,
        postgresql_where=sa.text("agent_id IS NOT NULL"),
    )
    op.create_index(
        "uq_context_overrides_session_part",
        "context_overrides",
        ["tenant_id", "session_id", "part"],
        unique=True,
        postgresql_where=sa.text("session_id IS NOT NULL"),
    )
    op.create_table(
        "imports",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("format", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("source_session_id", sa.Text(), nullable=True),
        sa.Column("last_record_id", sa.Text(), nullable=True),
        sa.Column("report", sa.Text(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.CheckConstraint("content_hash ~ '^[0-9a-f]{64}$'", name=op.f("ck_imports_content_hash")),
        sa.CheckConstraint("fingerprint ~ '^[0-9a-f]{64}$'", name=op.f("ck_imports_fingerprint")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "agent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_imports_tenant_id_agent_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "owner_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_imports_tenant_id_owner_id"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["sessions.tenant_id", "sessions.id"],
            name=op.f("fk_imports_tenant_id_session_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_imports_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_imports")),
        sa.UniqueConstraint(
            "tenant_id",
            "owner_id",
            "fingerprint",
            name=op.f("uq_imports_tenant_id_owner_id_fingerprint"),
        ),
    )
    op.create_index(
        op.f("ix_imports_tenant_id_agent_id"), "imports", ["tenant_id", "agent_id"], unique=False
    )
    op.create_index(
        op.f("ix_imports_tenant_id_session_id"),
        "imports",
        ["tenant_id", "session_id"],
        unique=False,
    )
    op.create_table(
        "runs",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("key_id", sa.Uuid(), nullable=True),
        sa.Column("parent_run_id", sa.Uuid(), nullable=True),
        sa.Column("status", sa.Text(), server_default="queued", nullable=False),
        sa.Column("attempt", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("call_started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("cancel_requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deadline_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("stop_reason", sa.Text(), nullable=True),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("error_detail", sa.Text(), nullable=True),
        sa.Column("error_retryable", sa.Boolean(), nullable=True),
        sa.Column("max_turns", sa.Integer(), nullable=True),
        sa.Column("turns", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("seqs", sa.ARRAY(sa.Integer()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("loaded", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "(finished_at IS NULL) = (status IN ('queued', 'running'))",
            name=op.f("ck_runs_finished_when_final"),
        ),
        sa.CheckConstraint(
            "(status = 'running') = (lease_until IS NOT NULL)",
            name=op.f("ck_runs_leased_while_running"),
        ),
        sa.CheckConstraint(
            "error_code IS NULL OR status IN ('failed', 'timed_out')",
            name=op.f("ck_runs_error_when_failed"),
        ),
        sa.CheckConstraint(
            "status <> 'failed' OR error_code IS NOT NULL", name=op.f("ck_runs_failed_says_why")
        ),
        sa.CheckConstraint(
            "status <> 'running' OR started_at IS NOT NULL", name=op.f("ck_runs_running_started")
        ),
        sa.CheckConstraint(
            "status IN ('queued', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled')",
            name=op.f("ck_runs_status"),
        ),
        sa.CheckConstraint("attempt >= 0", name=op.f("ck_runs_attempt")),
        sa.CheckConstraint("max_turns >= 1", name=op.f("ck_runs_max_turns")),
        sa.CheckConstraint("turns >= 0", name=op.f("ck_runs_turns")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "agent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_runs_tenant_id_agent_id"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "key_id"],
            ["api_keys.tenant_id", "api_keys.id"],
            name=op.f("fk_runs_tenant_id_key_id"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "owner_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_runs_tenant_id_owner_id"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "parent_run_id"],
            ["runs.tenant_id", "runs.id"],
            name=op.f("fk_runs_tenant_id_parent_run_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["sessions.tenant_id", "sessions.id"],
            name=op.f("fk_runs_tenant_id_session_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_runs_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_runs")),
    )
    op.create_index(
        "ix_runs_open",
        "runs",
        ["status", "created_at"],
        unique=False,
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )
    op.create_index(
        op.f("ix_runs_tenant_id_agent_id"), "runs", ["tenant_id", "agent_id"], unique=False
    )
    op.create_index(
        op.f("ix_runs_tenant_id_parent_run_id"),
        "runs",
        ["tenant_id", "parent_run_id"],
        unique=False,
        postgresql_where=sa.text("parent_run_id IS NOT NULL"),
    )
    op.create_index(
        op.f("ix_runs_tenant_id_session_id_id"),
        "runs",
        ["tenant_id", "session_id", "id"],
        unique=False,
    )
    op.create_index(
        "uq_runs_open_of_session",
        "runs",
        ["tenant_id", "session_id"],
        unique=True,
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )
    op.create_table(
        "tries",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("key_id", sa.Uuid(), nullable=True),
        sa.Column("baseline_id", sa.Uuid(), nullable=True),
        sa.Column("ablation_id", sa.Uuid(), nullable=True),
        sa.Column("status", sa.Text(), server_default="queued", nullable=False),
        sa.Column("attempt", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("call_started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("cancel_requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deadline_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("stop_reason", sa.Text(), nullable=True),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("error_detail", sa.Text(), nullable=True),
        sa.Column("error_retryable", sa.Boolean(), nullable=True),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("excluded", sa.Text(), nullable=False),
        sa.Column("added", sa.Text(), nullable=False),
        sa.Column("replaced", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("request_sha256", sa.Text(), nullable=True),
        sa.Column("snapshot", sa.Text(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(finished_at IS NULL) = (status IN ('queued', 'running'))",
            name=op.f("ck_tries_finished_when_final"),
        ),
        sa.CheckConstraint(
            "(status = 'running') = (lease_until IS NOT NULL)",
            name=op.f("ck_tries_leased_while_running"),
        ),
        sa.CheckConstraint(
            "error_code IS NULL OR status IN ('failed', 'timed_out')",
            name=op.f("ck_tries_error_when_failed"),
        ),
        sa.CheckConstraint(
            "request_sha256 ~ '^[0-9a-f]{64}$'", name=op.f("ck_tries_request_sha256")
        ),
        sa.CheckConstraint(
            "status <> 'failed' OR error_code IS NOT NULL", name=op.f("ck_tries_failed_says_why")
        ),
        sa.CheckConstraint(
            "status <> 'running' OR started_at IS NOT NULL", name=op.f("ck_tries_running_started")
        ),
        sa.CheckConstraint(
            "status <> 'succeeded' OR answer IS NOT NULL", name=op.f("ck_tries_succeeded_answers")
        ),
        sa.CheckConstraint(
            "status IN ('queued', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled')",
            name=op.f("ck_tries_status"),
        ),
        sa.CheckConstraint("attempt >= 0", name=op.f("ck_tries_attempt")),
        sa.CheckConstraint("baseline_id <> id", name=op.f("ck_tries_not_its_own_baseline")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "key_id"],
            ["api_keys.tenant_id", "api_keys.id"],
            name=op.f("fk_tries_tenant_id_key_id"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "owner_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_tries_tenant_id_owner_id"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["sessions.tenant_id", "sessions.id"],
            name=op.f("fk_tries_tenant_id_session_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_tries_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_tries")),
    )
    op.create_index("ix_tries_expires_at", "tries", ["expires_at"], unique=False)
    op.create_index(
        "ix_tries_open",
        "tries",
        ["status", "created_at"],
        unique=False,
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )
    op.create_index(
        op.f("ix_tries_tenant_id_ablation_id_id"),
        "tries",
        ["tenant_id", "ablation_id", "id"],
        unique=False,
        postgresql_where=sa.text("ablation_id IS NOT NULL"),
    )
    op.create_index(
        op.f("ix_tries_tenant_id_session_id_id"),
        "tries",
        ["tenant_id", "session_id", "id"],
        unique=False,
    )
    op.create_table(
        "checkpoints",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("base_id", sa.Uuid(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("trigger", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("covers_from_seq", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("covers_seq", sa.Integer(), nullable=False),
        sa.Column("cleared_through_seq", sa.Integer(), nullable=True),
        sa.Column(
            "retained_seqs", sa.ARRAY(sa.Integer()), server_default=sa.text("'{}'"), nullable=False
        ),
        sa.Column("source_sha256", sa.Text(), nullable=True),
        sa.Column("overrides_sha256", sa.Text(), nullable=True),
        sa.Column("role", sa.Text(), nullable=True),
        sa.Column("content", sa.Text(), nullable=True),
        sa.Column("tokens", sa.Integer(), nullable=True),
        sa.Column("counted_by", sa.Text(), nullable=True),
        sa.Column("preview", sa.Text(), nullable=True),
        sa.Column("sha256", sa.Text(), nullable=True),
        sa.Column("marks", sa.Text(), nullable=True),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("origin", sa.Text(), nullable=True),
        sa.Column("segment_summary", sa.Text(), nullable=True),
        sa.Column("appendix", sa.Text(), nullable=True),
        sa.Column("tokens_before", sa.Integer(), nullable=True),
        sa.Column("tokens_after", sa.Integer(), nullable=True),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("prompt_version", sa.Text(), nullable=True),
        sa.Column("failure_code", sa.Text(), nullable=True),
        sa.Column("run_id", sa.Uuid(), nullable=True),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(failure_code IS NOT NULL) = (state IN ('failed', 'rejected'))",
            name=op.f("ck_checkpoints_failure_says_why"),
        ),
        sa.CheckConstraint(
            "(finished_at IS NULL) = (state = 'started')",
            name=op.f("ck_checkpoints_finished_when_final"),
        ),
        sa.CheckConstraint(
            "kind <> 'summary' OR state <> 'completed' OR num_nulls(role, content, preview, sha256, marks, label, origin) = 0",
            name=op.f("ck_checkpoints_summary_is_whole"),
        ),
        sa.CheckConstraint(
            "kind IN ('clear', 'summary', 'emergency')", name=op.f("ck_checkpoints_kind")
        ),
        sa.CheckConstraint("role IN ('user', 'assistant')", name=op.f("ck_checkpoints_role")),
        sa.CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name=op.f("ck_checkpoints_sha256")),
        sa.CheckConstraint(
            "state IN ('started', 'completed', 'failed', 'cancelled', 'rejected')",
            name=op.f("ck_checkpoints_state"),
        ),
        sa.CheckConstraint(
            "trigger IN ('auto', 'overflow', 'manual', 'background', 'model_switch', 'import')",
            name=op.f("ck_checkpoints_trigger"),
        ),
        sa.CheckConstraint(
            "(tokens IS NULL) = (counted_by IS NULL)", name=op.f("ck_checkpoints_counted")
        ),
        sa.CheckConstraint("cleared_through_seq >= 0", name=op.f("ck_checkpoints_cleared")),
        sa.CheckConstraint(
            "covers_from_seq BETWEEN 1 AND covers_seq", name=op.f("ck_checkpoints_range")
        ),
        sa.CheckConstraint("tokens >= 0", name=op.f("ck_checkpoints_tokens")),
        sa.CheckConstraint("version >= 1", name=op.f("ck_checkpoints_version")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "base_id"],
            ["checkpoints.tenant_id", "checkpoints.id"],
            name=op.f("fk_checkpoints_tenant_id_base_id"),
            ondelete="SET NULL (base_id)",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "run_id"],
            ["runs.tenant_id", "runs.id"],
            name=op.f("fk_checkpoints_tenant_id_run_id"),
            ondelete="SET NULL (run_id)",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["sessions.tenant_id", "sessions.id"],
            name=op.f("fk_checkpoints_tenant_id_session_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_checkpoints")),
    )
    op.create_index(
        op.f("ix_checkpoints_tenant_id_base_id"),
        "checkpoints",
        ["tenant_id", "base_id"],
        unique=False,
        postgresql_where=sa.text("base_id IS NOT NULL"),
    )
    op.create_index(
        op.f("ix_checkpoints_tenant_id_run_id"),
        "checkpoints",
        ["tenant_id", "run_id"],
        unique=False,
        postgresql_where=sa.text("run_id IS NOT NULL"),
    )
    op.create_index(
        op.f("ix_checkpoints_tenant_id_session_id_version"),
        "checkpoints",
        ["tenant_id", "session_id", "version"],
        unique=True,
    )
    op.create_table(
        "usage_records",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("key_id", sa.Uuid(), nullable=True),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("session_id", sa.Uuid(), nullable=True),
        sa.Column("run_id", sa.Uuid(), nullable=True),
        sa.Column("call", sa.Integer(), nullable=True),
        sa.Column("try_id", sa.Uuid(), nullable=True),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("input_tokens", sa.Integer(), nullable=True),
        sa.Column("output_tokens", sa.Integer(), nullable=True),
        sa.Column("cache_read_tokens", sa.Integer(), nullable=True),
        sa.Column("cache_write_tokens", sa.Integer(), nullable=True),
        sa.Column("estimated_tokens", sa.Integer(), nullable=True),
        sa.Column("estimator", sa.Text(), nullable=True),
        sa.Column("cost_micro_dollars", sa.BigInteger(), nullable=True),
        sa.Column("price_version", sa.Text(), nullable=True),
        sa.Column("latency_ms", sa.Integer(), nullable=True),
        sa.Column("request_sha256", sa.Text(), nullable=True),
        sa.Column("manifest", sa.Text(), nullable=True),
        sa.Column("provider_request_id", sa.Text(), nullable=True),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.CheckConstraint(
            "(purpose = 'context_try') = (try_id IS NOT NULL)",
            name=op.f("ck_usage_records_try_of_context_try"),
        ),
        sa.CheckConstraint(
            "outcome IN ('succeeded', 'failed', 'timed_out', 'cancelled')",
            name=op.f("ck_usage_records_outcome"),
        ),
        sa.CheckConstraint(
            "purpose <> 'context_try' OR run_id IS NULL",
            name=op.f("ck_usage_records_no_run_of_context_try"),
        ),
        sa.CheckConstraint(
            "purpose IN ('turn', 'summary', 'subagent', 'context_try', 'fold', 'gateway')",
            name=op.f("ck_usage_records_purpose"),
        ),
        sa.CheckConstraint(
            "request_sha256 ~ '^[0-9a-f]{64}$'", name=op.f("ck_usage_records_request_sha256")
        ),
        sa.CheckConstraint(
            "(cost_micro_dollars IS NULL) = (price_version IS NULL)",
            name=op.f("ck_usage_records_cost_has_price_version"),
        ),
        sa.CheckConstraint("call >= 1", name=op.f("ck_usage_records_call")),
        sa.CheckConstraint(
            "least(input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, estimated_tokens, cost_micro_dollars, latency_ms) >= 0",
            name=op.f("ck_usage_records_not_negative"),
        ),
        sa.CheckConstraint(
            "run_id IS NULL OR call IS NOT NULL", name=op.f("ck_usage_records_call_of_run")
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "agent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_usage_records_tenant_id_agent_id"),
            ondelete="SET NULL (agent_id)",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "key_id"],
            ["api_keys.tenant_id", "api_keys.id"],
            name=op.f("fk_usage_records_tenant_id_key_id"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "run_id"],
            ["runs.tenant_id", "runs.id"],
            name=op.f("fk_usage_records_tenant_id_run_id"),
            ondelete="SET NULL (run_id)",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["sessions.tenant_id", "sessions.id"],
            name=op.f("fk_usage_records_tenant_id_session_id"),
            ondelete="SET NULL (session_id)",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "user_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_usage_records_tenant_id_user_id"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_usage_records_tenant_id")
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_usage_records")),
    )
    op.create_index(
        op.f("ix_usage_records_tenant_id_agent_id"),
        "usage_records",
        ["tenant_id", "agent_id"],
        unique=False,
        postgresql_where=sa.text("agent_id IS NOT NULL"),
    )
    op.create_index(
        op.f("ix_usage_records_tenant_id_created_at"),
        "usage_records",
        ["tenant_id", "created_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_usage_records_tenant_id_session_id"),
        "usage_records",
        ["tenant_id", "session_id"],
        unique=False,
        postgresql_where=sa.text("session_id IS NOT NULL"),
    )
    op.create_index(
        "uq_usage_records_call",
        "usage_records",
        ["tenant_id", "run_id", "call"],
        unique=True,
        postgresql_where=sa.text("run_id IS NOT NULL"),
    )
    op.create_index(
        "uq_usage_records_try",
        "usage_records",
        ["tenant_id", "try_id"],
        unique=True,
        postgresql_where=sa.text("try_id IS NOT NULL"),
    )


def downgrade() -> None:
    for table in (
        "idempotency_keys",
        "audit_events",
        "imports",
        "context_overrides",
        "usage_records",
        "checkpoints",
        "tries",
        "runs",
    ):
        op.drop_table(table)
