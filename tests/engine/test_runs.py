"""Runs from their POST to their end, carried out in this process by a provider that is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from app.domain.audit import Origin
from app.domain.jobs import Job
from app.domain.responses import Usage
from app.errors import DatabaseUnavailable
from app.events import Events
from app.provider.failures import (
    DeadlinePassed,
    Overloaded,
    ProviderFailure,
    RateLimited,
    Seen,
    StreamBroken,
)
from app.queue import key_of
from app.runtime import build_runtime
from app.services import execution, work
from app.settings import Secret
from app.store.transaction import Database, Transaction
from app.web import create_app
from tests import history
from tests.engine.conftest import Runs, says
from tests.factories import append, make_agent, make_session
from tests.fakes.providers import ExplodingProvider, ScriptedProvider
from tests.fakes.strict_provider import text, thinking, tool_use
from tests.history import user


def test_a_run_is_answered_by_the_stand_in(runs: Runs) -> None:
    session = make_session(runs.alice)
    begun = runs.alice.post(f"/v1/sessions/{session}/runs", json={"message": "Hello there"})
    assert begun.status_code == 202
    assert begun.headers["Location"] == f"/v1/runs/{begun.json['id']}"
    assert begun.json["status"] == "queued"

    run = runs.carry_out(begun.json["id"])

    assert run["status"] == "succeeded", run
    assert run["stop_reason"] == "end_turn"
    assert run["messages"] == [1, 2]
    assert run["usage"]["calls"] == 1
    assert run["usage"]["input_tokens"] > 0
    answer = runs.messages(session)[1]
    assert answer["role"] == "assistant"
    assert "Hello there" in answer["content"][0]["text"]


def test_calls_are_answered_together_and_in_their_order(runs: Runs) -> None:
    session = make_session(runs.alice)
    calls = [tool_use("first", "toolu_1", a=1), tool_use("second", "toolu_2")]
    provider = ScriptedProvider(says(*calls), says(text("Neither works.")))

    run = runs.answered(session, provider)

    assert (run["status"], run["turns"], run["messages"]) == ("succeeded", 2, [1, 2, 3, 4])
    results = runs.messages(session)[2]["content"]
    assert [block["tool_use_id"] for block in results] == ["toolu_1", "toolu_2"]
    assert all(block["is_error"] for block in results)
    assert provider.sent[1]["messages"][-1]["content"] == results


def test_built_in_tools_work_on_the_session(runs: Runs) -> None:
    session = make_session(runs.alice)
    provider = ScriptedProvider(
        says(tool_use("write_file", path="/plan.md", content="Tea first.")),
        says(tool_use("read_file", path="/plan.md"), tool_use("read_file", path="/none.md")),
        says(text("Done.")),
    )

    run = runs.answered(session, provider)

    assert (run["status"], run["turns"]) == ("succeeded", 3)
    found, missing = runs.messages(session)[4]["content"]
    assert "Tea first." in found["content"]
    assert "is_error" not in found
    assert missing["is_error"]
    file = runs.alice.get(f"/v1/sessions/{session}/files/plan.md")
    assert file.json["content"] == "Tea first."


@pytest.mark.parametrize("reason", ["max_tokens", "refusal", "stop_sequence", "of_tomorrow"])
def test_what_the_model_stopped_for_is_told(runs: Runs, reason: str) -> None:
    provider = ScriptedProvider(says(text("Well"), stop_reason=reason))

    run = runs.answered(make_session(runs.alice), provider)

    assert (run["status"], run["stop_reason"]) == ("succeeded", reason)


def test_a_paused_turn_goes_on(runs: Runs) -> None:
    provider = ScriptedProvider(says(text("Wait"), stop_reason="pause_turn"), says(text("Done")))

    run = runs.answered(make_session(runs.alice), provider)

    assert (run["status"], run["turns"], run["stop_reason"]) == ("succeeded", 2, "end_turn")


def test_a_call_that_was_cut_off_is_never_carried_out(runs: Runs) -> None:
    session = make_session(runs.alice)
    cut = says(text("I will"), tool_use("write_file", "toolu_1"), stop_reason="max_tokens")

    run = runs.answered(session, ScriptedProvider(cut))

    assert (run["status"], run["stop_reason"], run["turns"]) == ("succeeded", "max_tokens", 1)
    assert "not carried out" in runs.messages(session)[2]["content"][0]["content"]
    assert runs.answered(session, ScriptedProvider(says(text("Again"))))["status"] == "succeeded"


def test_an_answer_without_anything_to_keep_leaves_no_message(runs: Runs) -> None:
    session = make_session(runs.alice)

    run = runs.answered(session, ScriptedProvider(says(thinking(), stop_reason="max_tokens")))

    assert (run["status"], run["messages"]) == ("succeeded", [1])


def test_turns_have_a_limit(runs: Runs) -> None:
    session = make_session(runs.alice)
    provider = ScriptedProvider(*[says(tool_use("again")) for _ in range(3)])

    run = runs.answered(session, provider, max_turns=2)

    assert (run["status"], run["stop_reason"], run["turns"]) == ("succeeded", "max_turns", 2)
    assert len(provider.sent) == 2
    assert runs.messages(session)[-1]["content"][0]["type"] == "tool_result"


@pytest.mark.parametrize(
    ("failure", "status", "retryable"),
    [
        (Overloaded(), "failed", True),
        (RateLimited(), "failed", True),
        (StreamBroken(), "failed", False),
        (DeadlinePassed(), "timed_out", False),
    ],
)
def test_a_failed_call_fails_the_run_and_is_on_record(
    runs: Runs, failure: ProviderFailure, status: str, retryable: bool
) -> None:
    session = make_session(runs.alice)
    failure.seen = Seen(usage=Usage(input_tokens=7, output_tokens=1), request_id="req_1")

    run = runs.answered(session, ScriptedProvider(failure))

    assert run["status"] == status
    assert run["error"]["code"] == failure.code
    assert run["error"]["retryable"] is retryable
    (call,) = runs.calls(run["id"])
    assert call["outcome"] == status
    assert (call["input_tokens"], call["provider_request_id"]) == (7, "req_1")
    assert runs.answered(session, ScriptedProvider(says(text("Hi"))))["status"] == "succeeded"


def test_a_call_whose_figures_nobody_told_has_none(runs: Runs) -> None:
    run = runs.answered(make_session(runs.alice), ScriptedProvider(Overloaded()))

    (call,) = runs.calls(run["id"])
    assert call["input_tokens"] is None
    assert call["cost_micro_dollars"] is None


def test_a_fault_of_our_own_ends_the_run(runs: Runs) -> None:
    run = runs.answered(make_session(runs.alice), ExplodingProvider())

    assert (run["status"], run["error"]["code"]) == ("failed", "internal")


def test_a_session_has_one_run_at_a_time(runs: Runs) -> None:
    session = make_session(runs.alice)
    first = runs.begin(session)

    second = runs.alice.post(f"/v1/sessions/{session}/runs", json={"message": "again"})

    assert (second.status_code, second.json["code"]) == (409, "run_open")
    assert first in second.json["detail"]
    assert len(runs.messages(session)) == 1
    runs.carry_out(first)
    assert runs.begin(session, "again")


def test_a_post_that_is_sent_again_begins_nothing(runs: Runs) -> None:
    session = make_session(runs.alice)
    send = {"json": {"message": "hi"}, "headers": {"Idempotency-Key": "once"}}

    first = runs.alice.post(f"/v1/sessions/{session}/runs", **send)
    again = runs.alice.post(f"/v1/sessions/{session}/runs", **send)

    assert first.json["id"] == again.json["id"]
    assert again.headers["Idempotent-Replayed"] == "true"
    assert len(runs.messages(session)) == 1


def test_a_message_that_could_never_be_sent_begins_nothing(runs: Runs) -> None:
    session = make_session(runs.alice)
    result = {"type": "tool_result", "tool_use_id": "toolu_9", "content": "x"}

    refused = runs.alice.post(f"/v1/sessions/{session}/runs", json={"message": [result]})

    assert (refused.status_code, refused.json["code"]) == (422, "history_refused")
    assert runs.messages(session) == []


def test_interrupted_calls_are_no_obstacle(runs: Runs) -> None:
    """D09: a history that ends on calls without results."""
    session = make_session(runs.alice, None, user("go"), history.tool_use("toolu_a", "toolu_b"))
    provider = ScriptedProvider(says(text("Yes.")), says(text("Still.")))

    run = runs.answered(session, provider, "are you there?")

    assert run["status"] == "succeeded", run
    results = [b for b in provider.sent[0]["messages"][2]["content"] if b["type"] == "tool_result"]
    assert [each["tool_use_id"] for each in results] == ["toolu_a", "toolu_b"]
    assert [each["role"] for each in runs.messages(session)] == [
        "user", "assistant", "user", "assistant"
    ]  # fmt: skip
    assert runs.answered(session, provider, "still?")["status"] == "succeeded"


def test_a_job_delivered_twice_is_paid_for_once(runs: Runs) -> None:
    session = make_session(runs.alice)
    run = runs.begin(session)
    provider = ScriptedProvider(says(text("Once.")))

    runs.carry_out(run, provider)
    runs.carry_out(run, provider)

    assert len(provider.sent) == 1
    assert len(runs.calls(run)) == 1
    assert len(runs.messages(session)) == 2


def test_a_job_for_what_is_gone_does_nothing(runs: Runs) -> None:
    execution.execute(runs.runtime, uuid4())


def test_a_session_deleted_meanwhile_ends_its_run_quietly(runs: Runs) -> None:
    session = make_session(runs.alice)
    run = runs.begin(session)

    class Deleting(ScriptedProvider):
        def complete(self, body: Any, **bounds: Any) -> Any:
            assert runs.alice.delete(f"/v1/sessions/{session}").status_code == 204
            return super().complete(body, **bounds)

    runs.carry_out(run, Deleting(says(text("Hello?"))))

    assert runs.alice.get(f"/v1/runs/{run}").status_code == 404


def test_nothing_is_open_during_a_call(runs: Runs) -> None:
    """D28: with one connection in the pool, a call that uses the API itself gets an answer."""
    session = make_session(runs.alice)
    run = runs.begin(session)
    seen = []

    class Curious(ScriptedProvider):
        def complete(self, body: Any, **bounds: Any) -> Any:
            narrow = build_runtime(replace(runs.runtime.settings, database_pool=1))
            idle = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'"
            with narrow.database.reading(runs.alice.principal) as tx:
                seen.append(tx.runs._connection.exec_driver_sql(idle).scalar())
            narrow.database.dispose()
            return super().complete(body, **bounds)

    runs.carry_out(run, Curious(says(text("Hi"))))

    assert seen == [0]


def test_a_queued_run_is_cancelled_at_once(runs: Runs) -> None:
    run = runs.begin(make_session(runs.alice))

    cancelled = runs.alice.delete(f"/v1/runs/{run}")

    assert (cancelled.status_code, cancelled.json["status"]) == (200, "cancelled")
    assert runs.carry_out(run, ExplodingProvider())["status"] == "cancelled"


def test_a_run_that_has_ended_stays_as_it_is(runs: Runs) -> None:
    run = runs.answered(make_session(runs.alice), ScriptedProvider(says(text("Hi"))))

    assert runs.alice.delete(f"/v1/runs/{run['id']}").json == run


def test_a_running_run_is_cancelled_between_its_turns(runs: Runs) -> None:
    session = make_session(runs.alice)
    run = runs.begin(session)

    class Cancelling(ScriptedProvider):
        def complete(self, body: Any, **bounds: Any) -> Any:
            answer = super().complete(body, **bounds)
            assert runs.alice.delete(f"/v1/runs/{run}").json["status"] == "running"
            runs.runtime.leases.renew()  # the row says so, with or without Redis
            return answer

    ended = runs.carry_out(run, Cancelling(says(tool_use("x", "toolu_1")), says(text("no"))))

    assert (ended["status"], ended["turns"]) == ("cancelled", 1)
    assert "cancelled" in runs.messages(session)[-1]["content"][0]["content"]


def test_a_run_without_time_left_makes_no_call(runs: Runs) -> None:
    settings = replace(runs.runtime.settings, run_timeout=timedelta(0))
    run = runs.begin(make_session(runs.alice))
    late = replace(runs.runtime, settings=settings, provider=ExplodingProvider())

    execution.execute(late, UUID(run))

    ended = runs.get(run)
    assert (ended["status"], ended["error"]["code"]) == ("timed_out", "deadline_passed")


def test_with_the_broker_away_nothing_is_begun(runs: Runs) -> None:
    """D29"""
    session = make_session(runs.alice)
    settings = replace(runs.runtime.settings, redis_url=Secret("redis://127.0.0.1:9/0"))
    away = build_runtime(replace(settings, rate_limit_per_minute=0))
    caller = replace(runs.alice, client=create_app(away).test_client())

    replies = [caller.post(f"/v1/sessions/{session}/runs", json={"message": "x"}) for _ in range(2)]

    assert [each.status_code for each in replies] == [503, 503]
    assert runs.alice.get(f"/v1/sessions/{session}/runs").json["items"] == []
    assert runs.messages(session) == []
    assert runs.begin(session)


def test_a_run_is_queued_with_its_id_alone(runs: Runs) -> None:
    runs.begin(make_session(runs.alice), "canary-4711")

    (message,) = runs.runtime.redis.lrange(key_of(Job.EXECUTE_RUN), 0, -1)

    assert b"canary" not in message


def test_what_is_appended_meanwhile_goes_with_the_next_turn(runs: Runs) -> None:
    """D36: no user's row comes between a call and its result."""
    session = make_session(runs.alice, make_agent(runs.alice))
    run = runs.begin(session)

    class Interrupted(ScriptedProvider):
        def complete(self, body: Any, **bounds: Any) -> Any:
            answer = super().complete(body, **bounds)
            if len(self.sent) == 1:
                append(runs.alice, session, user("by the way"))
            return answer

    provider = Interrupted(says(tool_use("x", "toolu_1")), says(text("I see")))

    assert runs.carry_out(run, provider)["messages"] == [1, 3, 4, 5]
    roles = [each["role"] for each in runs.messages(session)]
    assert roles == ["user", "user", "assistant", "user", "assistant"]


NO_ORIGIN = Origin()


class Restarting(Database):
    """The real database, which is away for the first writes of a turn, before or after them."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.before = self.after = 0

    @contextmanager
    def transaction(self, principal: Any, origin: Any = NO_ORIGIN) -> Iterator[Transaction]:
        if self.before:
            self.before -= 1
            raise DatabaseUnavailable
        with super().transaction(principal, origin) as tx:
            yield tx
        if self.after:
            self.after -= 1
            raise DatabaseUnavailable


@pytest.mark.parametrize("away", ["before", "after"])
def test_what_was_paid_for_is_written_once_the_database_is_back(
    runs: Runs, away: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "WRITE_AGAIN_AFTER", 0)
    session = make_session(runs.alice)
    run = runs.begin(session)
    database = Restarting(runs.runtime.settings)

    class Losing(ScriptedProvider):
        def complete(self, body: Any, **bounds: Any) -> Any:
            setattr(database, away, 1)
            return super().complete(body, **bounds)

    provider = Losing(says(text("Paid for.")))
    execution.execute(replace(runs.runtime, database=database, provider=provider), UUID(run))
    database.dispose()

    assert runs.get(run)["status"] == "succeeded"
    assert runs.get(run)["messages"] == [1, 2]
    assert len(runs.messages(session)) == 2


def test_a_turn_whose_commit_nobody_heard_of_is_not_stored_twice(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "WRITE_AGAIN_AFTER", 0)
    session = make_session(runs.alice)
    run = runs.begin(session)
    database = Restarting(runs.runtime.settings)

    class Breaking(Events):
        def tell(self, run_id: UUID, kind: str, data: Any) -> None:
            if kind == "tool.finished":  # the next that is written is the turn
                database.after = 1

    runtime = replace(runs.runtime, database=database, events=Breaking(runs.runtime.redis))
    provider = ScriptedProvider(says(tool_use("ls", "toolu_1")))
    execution.execute(replace(runtime, provider=provider), UUID(run))
    database.dispose()

    assert [each["role"] for each in runs.messages(session)] == ["user", "assistant", "user"]
    assert (runs.get(run)["status"], runs.get(run)["turns"]) == ("running", 1)
