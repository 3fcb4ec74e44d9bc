"""Runs, tries, checkpoints, and what each model call cost.

Runs and tries are claimed by a worker: `attempt` grows with each claim and fences off a worker that
was thought dead, `lease_until` says how long the claim is believed, and `call_started_at` is set
before the money is spent, so that a call is never paid twice.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Index,
    Integer,
    Table,
    Uuid,
)
from sqlalchemy import (
    text as sql,
)

from app.store.tables.columns import (
    id_key,
    instant,
    json_text,
    made_at,
    metadata,
    of_tenant,
    refers,
    tenant_key,
    text,
)

_STATES = "'queued', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled'"
_OPEN = "'queued', 'running'"


def _life() -> list[Any]:
    """The columns and checks of work that is queued, claimed, and brought to a final state."""
    return [
        text("status", server_default="queued"),
        Column("attempt", Integer, nullable=False, server_default=sql("0")),
        text("worker", nullable=True),
        instant("lease_until"),
        instant("call_started_at"),
        instant("cancel_requested_at"),
        instant("deadline_at"),
        made_at(),
        instant("started_at"),
        instant("finished_at"),
        text("stop_reason", nullable=True),
        text("error_code", nullable=True),
        text("error_detail", nullable=True),
        Column("error_retryable", Boolean),
        # What was read for it once: a worker that goes on has to send the same prefix.
        json_text("loaded", nullable=True),
        CheckConstraint(f"status IN ({_STATES})", name="status"),
        CheckConstraint(
            f"(finished_at IS NULL) = (status IN ({_OPEN}))", name="finished_when_final"
        ),
        CheckConstraint(
            "(status = 'running') = (lease_until IS NOT NULL)", name="leased_while_running"
        ),
        CheckConstraint("status <> 'running' OR started_at IS NOT NULL", name="running_started"),
        CheckConstraint("attempt >= 0", name="attempt"),
        CheckConstraint("status <> 'failed' OR error_code IS NOT NULL", name="failed_says_why"),
        CheckConstraint(
            "error_code IS NULL OR status IN ('failed', 'timed_out')", name="error_when_failed"
        ),
    ]


runs = Table(
    "runs",
    metadata,
    tenant_key(),
    id_key(),
    Column("session_id", Uuid, nullable=False),
    Column("agent_id", Uuid, nullable=False),
    Column("owner_id", Uuid, nullable=False),
    Column("key_id", Uuid),
    Column("parent_run_id", Uuid),
    text("parent_tool_use_id", nullable=True),
    *_life(),
    Column("max_turns", Integer),
    Column("turns", Integer, nullable=False, server_default=sql("0")),
    # The messages that the run wrote, which need not be neighbours.
    Column("seqs", ARRAY(Integer), nullable=False, server_default=sql("'{}'")),
    of_tenant(),
    refers("session_id", "sessions", ondelete="CASCADE"),
    refers("agent_id", "agents"),
    refers("owner_id", "users"),
    refers("key_id", "api_keys"),
    refers("parent_run_id", "runs", ondelete="CASCADE"),
    Index(None, "tenant_id", "session_id", "id"),
    Index(None, "tenant_id", "agent_id"),
    # One run a call: what was started for it is never started, nor paid, again.
    Index(
        "uq_runs_task",
        "tenant_id",
        "parent_run_id",
        "parent_tool_use_id",
        unique=True,
        postgresql_where=sql("parent_run_id IS NOT NULL"),
    ),
    Index(
        "uq_runs_open_of_session",
        "tenant_id",
        "session_id",
        unique=True,
        postgresql_where=sql(f"status IN ({_OPEN})"),
    ),
    Index("ix_runs_open", "status", "created_at", postgresql_where=sql(f"status IN ({_OPEN})")),
    CheckConstraint("max_turns >= 1", name="max_turns"),
    CheckConstraint("turns >= 0", name="turns"),
    CheckConstraint(
        "(parent_run_id IS NULL) = (parent_tool_use_id IS NULL)", name="task_has_parent"
    ),
    # Its parent's worker carries it out, from the moment that it is there.
    CheckConstraint("parent_run_id IS NULL OR status <> 'queued'", name="task_never_waits"),
)

tries = Table(
    "tries",
    metadata,
    tenant_key(),
    id_key(),
    Column("session_id", Uuid, nullable=False),
    Column("owner_id", Uuid, nullable=False),
    Column("key_id", Uuid),
    # A try to compare with. A plain id: results are purged one by one.
    Column("baseline_id", Uuid),
    Column("ablation_id", Uuid),
    *_life(),
    text("model"),
    json_text("excluded"),
    json_text("added"),
    json_text("replaced"),  # part id to replacement
    text("message", nullable=True),
    text("request_sha256", nullable=True),
    json_text("snapshot", nullable=True),
    text("answer", nullable=True),  # compact JSON of the blocks
    instant("expires_at"),
    of_tenant(),
    refers("session_id", "sessions", ondelete="CASCADE"),
    refers("owner_id", "users"),
    refers("key_id", "api_keys"),
    Index(None, "tenant_id", "session_id", "id"),
    Index(None, "tenant_id", "ablation_id", "id", postgresql_where=sql("ablation_id IS NOT NULL")),
    Index("ix_tries_open", "status", "created_at", postgresql_where=sql(f"status IN ({_OPEN})")),
    Index("ix_tries_expires_at", "expires_at"),
    CheckConstraint("status <> 'succeeded' OR answer IS NOT NULL", name="succeeded_answers"),
    CheckConstraint("request_sha256 ~ '^[0-9a-f]{64}$'", name="request_sha256"),
    CheckConstraint("baseline_id <> id", name="not_its_own_baseline"),
)

# The tries of an ablation are rows of `tries`; this row says which, and what is left to do.
ablations = Table(
    "ablations",
    metadata,
    tenant_key(),
    id_key(),
    Column("session_id", Uuid, nullable=False),
    Column("owner_id", Uuid, nullable=False),
    Column("key_id", Uuid),
    text("status", server_default="running"),
    text("model"),
    Column("max_cost_micro_dollars", BigInteger),  # NULL: no limit
    json_text("findings"),  # the table: parts, figures, ids of tries; no content
    json_text("loaded", nullable=True),  # what its tries go by, until it has ended
    made_at(),
    instant("cancel_requested_at"),
    instant("finished_at"),
    text("error_code", nullable=True),
    text("error_detail", nullable=True),
    instant("expires_at"),  # NULL: it was purged
    of_tenant(),
    refers("session_id", "sessions", ondelete="CASCADE"),
    refers("owner_id", "users"),
    refers("key_id", "api_keys"),
    Index(None, "tenant_id", "session_id", "id"),
    Index("ix_ablations_running", "created_at", postgresql_where=sql("status = 'running'")),
    Index("ix_ablations_expires_at", "expires_at"),
    CheckConstraint("status IN ('running', 'succeeded', 'failed', 'cancelled')", name="status"),
    CheckConstraint("(finished_at IS NULL) = (status = 'running')", name="finished_when_final"),
    CheckConstraint("(loaded IS NULL) = (status <> 'running')", name="loaded_while_running"),
    CheckConstraint("(error_code IS NOT NULL) = (status = 'failed')", name="failed_says_why"),
    CheckConstraint("max_cost_micro_dollars >= 0", name="max_cost"),
)

checkpoints = Table(
    "checkpoints",
    metadata,
    tenant_key(),
    id_key(),
    Column("session_id", Uuid, nullable=False),
    Column("version", Integer, nullable=False),
    Column("base_id", Uuid),  # the checkpoint that this one was made from
    text("kind"),
    text("trigger"),
    text("state"),
    Column("covers_from_seq", Integer, nullable=False, server_default=sql("1")),
    Column("covers_seq", Integer, nullable=False),
    Column("cleared_through_seq", Integer),
    Column("retained_seqs", ARRAY(Integer), nullable=False, server_default=sql("'{}'")),
    # Of the messages 1 … covers_seq and of the overrides that the summary was made from: a
    # checkpoint that no longer fits them is passed over.
    text("source_sha256", nullable=True),
    text("overrides_sha256", nullable=True),
    # The summary as a message, with what is stored of any message.
    text("role", nullable=True),
    text("content", nullable=True),
    Column("tokens", Integer),
    text("counted_by", nullable=True),
    text("preview", nullable=True),
    text("sha256", nullable=True),
    text("marks", nullable=True),
    text("label", nullable=True),
    text("origin", nullable=True),
    text("segment_summary", nullable=True),  # of the newly covered messages alone
    json_text("appendix", nullable=True),
    Column("tokens_before", Integer),
    Column("tokens_after", Integer),
    text("model", nullable=True),
    text("prompt_version", nullable=True),
    text("failure_code", nullable=True),
    Column("run_id", Uuid),
    made_at(),
    instant("lease_until"),
    instant("finished_at"),
    refers("session_id", "sessions", ondelete="CASCADE"),
    refers("base_id", "checkpoints", ondelete="SET NULL (base_id)"),
    refers("run_id", "runs", ondelete="SET NULL (run_id)"),
    Index(None, "tenant_id", "session_id", "version", unique=True),
    Index(None, "tenant_id", "base_id", postgresql_where=sql("base_id IS NOT NULL")),
    Index(None, "tenant_id", "run_id", postgresql_where=sql("run_id IS NOT NULL")),
    CheckConstraint("version >= 1", name="version"),
    CheckConstraint("kind IN ('clear', 'summary', 'emergency')", name="kind"),
    CheckConstraint(
        "trigger IN ('auto', 'overflow', 'manual', 'background', 'model_switch', 'import')",
        name="trigger",
    ),
    CheckConstraint(
        "state IN ('started', 'completed', 'failed', 'cancelled', 'rejected')", name="state"
    ),
    CheckConstraint("covers_from_seq BETWEEN 1 AND covers_seq", name="range"),
    CheckConstraint("cleared_through_seq >= 0", name="cleared"),
    CheckConstraint("(finished_at IS NULL) = (state = 'started')", name="finished_when_final"),
    CheckConstraint(
        "(failure_code IS NOT NULL) = (state IN ('failed', 'rejected'))", name="failure_says_why"
    ),
    CheckConstraint(
        "kind <> 'summary' OR state <> 'completed'"
        " OR num_nulls(role, content, preview, sha256, marks, label, origin) = 0",
        name="summary_is_whole",
    ),
    CheckConstraint("role IN ('user', 'assistant')", name="role"),
    CheckConstraint("tokens >= 0", name="tokens"),
    CheckConstraint("(tokens IS NULL) = (counted_by IS NULL)", name="counted"),
    CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name="sha256"),
)

# What was paid for stays on record when the session, the run or the try is gone.
usage_records = Table(
    "usage_records",
    metadata,
    tenant_key(),
    id_key(),
    text("purpose"),
    Column("user_id", Uuid, nullable=False),
    Column("key_id", Uuid),
    Column("agent_id", Uuid),
    Column("session_id", Uuid),
    Column("run_id", Uuid),
    Column("call", Integer),  # its number in the run, counted from 1
    Column("try_id", Uuid),  # a plain id: tries are purged
    text("provider"),
    text("model"),
    text("outcome"),
    # NULL: the provider did not say. Cached tokens are not in input_tokens.
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("cache_read_tokens", Integer),
    Column("cache_write_tokens", Integer),
    Column("estimated_tokens", Integer),  # of the whole input, before the call
    text("estimator", nullable=True),
    Column("cost_micro_dollars", BigInteger),  # NULL: no price is known
    text("price_version", nullable=True),
    Column("latency_ms", Integer),
    text("request_sha256", nullable=True),
    json_text("manifest", nullable=True),  # the parts that were sent: ids, hashes, tokens; no text
    text("provider_request_id", nullable=True),
    Column("thinking_left_out", Integer),  # blocks that the provider has not taken back
    made_at(),
    of_tenant(),
    refers("user_id", "users"),
    refers("key_id", "api_keys"),
    refers("agent_id", "agents", ondelete="SET NULL (agent_id)"),
    refers("session_id", "sessions", ondelete="SET NULL (session_id)"),
    refers("run_id", "runs", ondelete="SET NULL (run_id)"),
    Index(None, "tenant_id", "created_at"),
    Index(None, "tenant_id", "agent_id", postgresql_where=sql("agent_id IS NOT NULL")),
    Index(None, "tenant_id", "session_id", postgresql_where=sql("session_id IS NOT NULL")),
    Index(
        "uq_usage_records_call",
        "tenant_id",
        "run_id",
        "call",
        unique=True,
        postgresql_where=sql("run_id IS NOT NULL"),
    ),
    Index(
        "uq_usage_records_try",
        "tenant_id",
        "try_id",
        unique=True,
        postgresql_where=sql("try_id IS NOT NULL"),
    ),
    CheckConstraint(
        "purpose IN ('turn', 'summary', 'subagent', 'context_try', 'fold', 'gateway')",
        name="purpose",
    ),
    CheckConstraint(
        "outcome IN ('unknown', 'succeeded', 'failed', 'timed_out', 'cancelled')", name="outcome"
    ),
    CheckConstraint("(purpose = 'context_try') = (try_id IS NOT NULL)", name="try_of_context_try"),
    CheckConstraint("purpose <> 'context_try' OR run_id IS NULL", name="no_run_of_context_try"),
    CheckConstraint("run_id IS NULL OR call IS NOT NULL", name="call_of_run"),
    CheckConstraint("call >= 1", name="call"),
    CheckConstraint(
        "least(input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,"
        " estimated_tokens, cost_micro_dollars, latency_ms) >= 0",
        name="not_negative",
    ),
    CheckConstraint("thinking_left_out >= 0", name="thinking_left_out"),
    CheckConstraint(
        "(cost_micro_dollars IS NULL) = (price_version IS NULL)", name="cost_has_price_version"
    ),
    CheckConstraint("request_sha256 ~ '^[0-9a-f]{64}$'", name="request_sha256"),
)
