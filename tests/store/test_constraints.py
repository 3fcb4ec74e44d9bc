"""Every rule that the database keeps by itself refuses a row that breaks it, and only that row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import (
    CheckConstraint,
    Connection,
    Engine,
    NullPool,
    create_engine,
    insert,
)
from sqlalchemy.exc import IntegrityError

from app.domain.ids import new_id
from app.store.tables import metadata
from cli.operate.embedded.postgres import PostgresUrls
from tests.store.rows import LATER, Row, good_rows, store, table

NO_SHA = "z" * 64
EARLIER = "2000-01-01T00:00:00+00:00"

# What to change in a good row so that it breaks exactly one rule.
BREAKS: dict[str, Row] = {
    "ck_tenants_name_length": {"name": ""},
    "ck_users_name_length": {"name": "n" * 201},
    "ck_users_role": {"role": "owner"},
    "ck_api_keys_public_id": {"public_id": "not base 62!"},
    "ck_api_keys_hash_length": {"hash": b"short"},
    "ck_api_keys_name_length": {"name": ""},
    "ck_web_sessions_token_hash_length": {"token_hash": b"short"},
    "ck_agents_name_length": {"name": ""},
    "ck_agents_model_length": {"model": ""},
    "ck_agents_max_tokens": {"max_tokens": 0},
    "ck_agents_version": {"version": 0},
    "ck_memory_files_path": {"path": "/memories/"},
    "ck_memory_files_version": {"version": 0},
    "ck_memory_files_sha256": {"sha256": NO_SHA},
    "ck_skills_name_length": {"name": ""},
    "ck_skills_version": {"version": 0},
    "ck_sessions_title_length": {"title": "t" * 201},
    "ck_sessions_last_seq": {"last_seq": -1},
    "ck_sessions_message_tokens": {"message_tokens": -1},
    "ck_sessions_not_its_own_parent": {"parent_id": "itself"},
    "ck_sessions_call_has_parent": {"parent_tool_use_id": "toolu_1"},
    "ck_sessions_helper_has_call": {"helper": {}},
    "ck_messages_seq": {"seq": 0},
    "ck_messages_role": {"role": "tool"},
    "ck_messages_tokens": {"tokens": -1},
    "ck_messages_counted": {"tokens": None},
    "ck_messages_sha256": {"sha256": NO_SHA},
    "ck_messages_content_is_blocks": {"content": '"text"'},
    "ck_message_thinking_bare_sha256": {"bare_sha256": NO_SHA},
    "ck_message_thinking_prefix_sha256": {"prefix_sha256": NO_SHA},
    "ck_message_thinking_after_seq": {"after_seq": 1},
    "ck_session_files_path": {"path": "plan.md"},
    "ck_session_files_not_memory": {"path": "/memories/plan.md"},
    "ck_session_files_version": {"version": 0},
    "ck_session_files_sha256": {"sha256": NO_SHA},
    "ck_session_files_size_bytes": {"size_bytes": 4},
    "ck_todos_position": {"position": 0},
    "ck_todos_status": {"status": "done"},
    "ck_attachments_name_length": {"name": ""},
    "ck_attachments_media_type_length": {"media_type": ""},
    "ck_attachments_sha256": {"sha256": NO_SHA},
    "ck_attachments_size_bytes": {"size_bytes": 4},
    "ck_context_overrides_action": {"action": "hide"},
    "ck_context_overrides_one_target": {"agent_id": None},
    "ck_context_overrides_replacement_with_replace": {"action": "replace"},
    "ck_context_overrides_agent_part": {"part": "message:1"},
    "ck_context_overrides_session_part": {
        "agent_id": None,
        "session_id": "the session",
        "part": "tool:ls",
    },
    "ck_context_overrides_no_tool_replace": {
        "part": "tool:ls",
        "action": "replace",
        "replacement": "Another tool",
    },
    "ck_context_overrides_part_length": {"part": "system:" + "p" * 506},
    "ck_context_overrides_base_sha256": {"base_sha256": NO_SHA},
    "ck_override_sets_one_target": {"session_id": "the session"},
    "ck_override_sets_version": {"version": 0},
    "ck_runs_max_turns": {"max_turns": 0},
    "ck_runs_turns": {"turns": -1},
    "ck_runs_task_has_parent": {"parent_tool_use_id": "toolu_1"},
    "ck_runs_task_never_waits": {"parent_run_id": "itself", "parent_tool_use_id": "toolu_1"},
    "ck_tries_succeeded_answers": {"status": "succeeded", "finished_at": LATER},
    "ck_tries_request_sha256": {"request_sha256": NO_SHA},
    "ck_tries_not_its_own_baseline": {"baseline_id": "itself"},
    "ck_ablations_status": {"status": "queued", "finished_at": LATER, "loaded": None},
    "ck_ablations_finished_when_final": {"finished_at": LATER},
    "ck_ablations_loaded_while_running": {"loaded": None},
    "ck_ablations_failed_says_why": {"error_code": "quota_exceeded"},
    "ck_ablations_max_cost": {"max_cost_micro_dollars": -1},
    "ck_checkpoints_version": {"version": 0},
    "ck_checkpoints_kind": {"kind": "fold"},
    "ck_checkpoints_trigger": {"trigger": "whim"},
    "ck_checkpoints_state": {"state": "done"},
    "ck_checkpoints_range": {"covers_from_seq": 2},
    "ck_checkpoints_cleared": {"cleared_through_seq": -1},
    "ck_checkpoints_finished_when_final": {"finished_at": None},
    "ck_checkpoints_failure_says_why": {"state": "failed"},
    "ck_checkpoints_summary_is_whole": {"content": None},
    "ck_checkpoints_role": {"role": "system"},
    "ck_checkpoints_tokens": {"tokens": -1},
    "ck_checkpoints_counted": {"counted_by": None},
    "ck_checkpoints_sha256": {"sha256": NO_SHA},
    "ck_usage_records_purpose": {"purpose": "fun"},
    "ck_usage_records_outcome": {"outcome": "good"},
    "ck_usage_records_try_of_context_try": {"purpose": "context_try", "run_id": None},
    "ck_usage_records_no_run_of_context_try": {"purpose": "context_try", "try_id": "a try"},
    "ck_usage_records_call_of_run": {"call": None},
    "ck_usage_records_call": {"call": 0},
    "ck_usage_records_not_negative": {"output_tokens": -1},
    "ck_usage_records_cost_has_price_version": {"cost_micro_dollars": 5},
    "ck_usage_records_request_sha256": {"request_sha256": NO_SHA},
    "ck_usage_records_thinking_left_out": {"thinking_left_out": -1},
    "ck_http_tools_name_length": {"name": ""},
    "ck_http_tools_method": {"method": "TRACE"},
    "ck_http_tools_timeout_seconds": {"timeout_seconds": 0},
    "ck_http_tools_version": {"version": 0},
    "ck_mcp_servers_name_length": {"name": "n" * 33},
    "ck_mcp_servers_timeout_seconds": {"timeout_seconds": 301},
    "ck_mcp_servers_version": {"version": 0},
    "ck_quotas_period": {"period": "year"},
    "ck_quotas_not_negative": {"tokens": -1},
    "ck_quota_days_not_negative": {"micro_dollars": -1},
    "ck_quota_reservations_not_negative": {"tokens": -1},
    "ck_imports_fingerprint": {"fingerprint": NO_SHA},
    "ck_imports_content_hash": {"content_hash": NO_SHA},
    "ck_audit_events_action": {"action": "Agent created"},
    "ck_audit_events_outcome": {"outcome": "maybe"},
    "ck_idempotency_keys_key_length": {"key": ""},
    "ck_idempotency_keys_fingerprint": {"fingerprint": NO_SHA},
    "ck_idempotency_keys_status": {"status": 500},
}
for each in ("runs", "tries"):
    BREAKS |= {
        f"ck_{each}_status": {"status": "lost", "finished_at": LATER},
        f"ck_{each}_finished_when_final": {"status": "cancelled"},
        f"ck_{each}_leased_while_running": {"lease_until": LATER},
        f"ck_{each}_running_started": {"status": "running", "lease_until": LATER},
        f"ck_{each}_attempt": {"attempt": -1},
        f"ck_{each}_failed_says_why": {"status": "failed", "finished_at": LATER},
        f"ck_{each}_error_when_failed": {"error_code": "worker_lost"},
    }


@pytest.fixture(scope="module")
def engine(postgres_urls: PostgresUrls) -> Iterator[Engine]:
    made = create_engine(postgres_urls.admin_url, poolclass=NullPool)
    yield made
    made.dispose()


@pytest.fixture
def connection(engine: Engine) -> Iterator[Connection]:
    """As the tables' owner; nothing of the test stays."""
    with engine.connect() as connection, connection.begin() as begun:
        yield connection
        begun.rollback()


def checks() -> dict[str, str]:
    """Every check of the schema, by name, with its table."""
    return {
        str(rule.name): each.name
        for each in metadata.tables.values()
        for rule in each.constraints
        if isinstance(rule, CheckConstraint)
    }


def test_every_check_has_a_row_that_breaks_it():
    assert BREAKS.keys() == checks().keys()


def test_the_good_rows_are_taken(connection):
    store(connection, good_rows())


@pytest.mark.parametrize("name", BREAKS)
def test_a_row_that_breaks_a_check_is_refused(connection, name):
    rows = good_rows()
    broken = checks()[name]
    row = rows[broken] | known(BREAKS[name], rows, broken)

    with pytest.raises(IntegrityError) as refused:
        connection.execute(insert(table(broken)).values(row))

    assert refused.value.orig.diag.constraint_name == name


@pytest.mark.parametrize(
    ("of", "change"),
    [
        ("users", {"id": "new"}),
        ("api_keys", {"id": "new"}),
        ("web_sessions", {"id": "new"}),
        ("runs", {"id": "new"}),
        ("imports", {"id": "new"}),
        ("checkpoints", {"id": "new"}),
        ("usage_records", {"id": "new"}),
        ("context_overrides", {"id": "new"}),
        ("override_sets", {"id": "new"}),
    ],
)
def test_what_may_be_there_once_is_not_taken_twice(connection, of, change):
    rows = good_rows()
    store(connection, rows)

    with pytest.raises(IntegrityError) as refused:
        connection.execute(insert(table(of)).values(rows[of] | known(change, rows, of)))

    assert refused.value.orig.pgcode == "23505"


def known(changes: Row, rows: dict[str, Row], of: str) -> dict[str, Any]:
    """The changes, with ids put in for the words that stand for them."""
    words = {
        "itself": rows[of].get("id"),
        "the session": rows["sessions"]["id"],
        "a try": new_id(),
        "new": new_id(),
    }
    return {
        name: words.get(value, value) if isinstance(value, str) else value
        for name, value in changes.items()
    }
