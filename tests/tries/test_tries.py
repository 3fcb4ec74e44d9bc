"""Tries from their POST to their end, carried out in this process by a provider that is told."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from app.domain.quota import Limits, Quota
from app.domain.responses import Usage
from app.provider.failures import (
    DeadlinePassed,
    Overloaded,
    ProviderFailure,
    RateLimited,
    Seen,
    StreamBroken,
)
from app.services import quota, work
from tests.api.problems import assert_problem
from tests.engine.conftest import says
from tests.factories import Caller, append, made, make_agent, make_session
from tests.fakes.providers import ExplodingProvider, ScriptedProvider
from tests.fakes.strict_provider import text, thinking, tool_use
from tests.history import assistant, tool_result, user
from tests.history import tool_use as calling
from tests.tries.conftest import Tries

TALK = [user("hi"), calling("t1"), tool_result("t1"), assistant("done"), user("and now?")]
SHAPE = {
    "id", "session_id", "status", "created_at", "started_at", "finished_at", "excluded", "added",
    "replaced", "baseline", "ablation_id", "answer", "stop_reason", "usage", "cost", "snapshot",
    "error",
}  # fmt: skip
FIGURES = {
    "input_tokens": 7,
    "cache_read_input_tokens": 9_000,
    "cache_creation_input_tokens": 1_000,
    "output_tokens": 5,
}


def test_an_answer_comes_with_all_that_belongs_to_it(tries: Tries) -> None:
    session = make_session(tries.alice, None, *TALK)
    reply = tries.ask(session, {"exclude": ["message:2"]})
    assert reply.status_code == 202
    assert reply.headers["Location"] == f"/v1/tries/{reply.json['id']}"
    assert reply.headers["Retry-After"] == "1"
    assert reply.json.keys() == SHAPE
    assert reply.json["status"] == "queued"
    (added,) = reply.json["added"]
    assert (added["part"], added["goes_with"], added["call"]) == ("message:3", "message:2", "t1")

    blocks = [thinking("Hm."), text("Tea?"), tool_use("ask", "toolu_9", a=1)]
    trial = tries.carry_out(reply.json["id"], ScriptedProvider(says(*blocks, usage=FIGURES)))

    assert trial.keys() == SHAPE
    assert (trial["status"], trial["stop_reason"]) == ("succeeded", "tool_use")
    assert trial["answer"] == {"role": "assistant", "content": blocks}
    assert trial["excluded"] == ["message:2", "message:3"]
    assert trial["usage"] == {
        "input_tokens": 7,
        "output_tokens": 5,
        "cache_read_tokens": 9_000,
        "cache_write_tokens": 1_000,
    }
    assert trial["error"] is None
    assert trial["started_at"] <= trial["finished_at"]


def test_cached_tokens_are_on_record_and_count_once(tries: Tries) -> None:
    """D18"""
    session = make_session(tries.alice, None, user("hi"))

    trial = tries.answered(session, ScriptedProvider(says(text("Yes."), usage=FIGURES)))

    record = tries.record(trial["id"])
    assert record
    assert (record.purpose, record.call, record.outcome) == ("context_try", None, "succeeded")
    assert (record.input_tokens, record.cache_read_tokens) == (7, 9_000)
    assert (record.cache_write_tokens, record.output_tokens) == (1_000, 5)
    assert tries.alice.get("/v1/quota").json["used"]["tokens"] == 10_012


@pytest.mark.parametrize(
    ("failure", "status", "code", "retryable"),
    [
        (Overloaded("Busy."), "failed", "provider_overloaded", True),
        (RateLimited(seen=Seen(retry_after=60)), "failed", "provider_rate_limited", True),
        (DeadlinePassed("Too long."), "timed_out", "deadline_passed", False),
        (
            StreamBroken(seen=Seen(started=True, usage=Usage(input_tokens=9, output_tokens=2))),
            "failed",
            "provider_stream_broken",
            False,
        ),
    ],
)
def test_a_call_that_fails_is_on_record_once(
    tries: Tries, failure: ProviderFailure, status: str, code: str, retryable: bool
) -> None:
    session = make_session(tries.alice, None, user("hi"))

    trial = tries.answered(session, ScriptedProvider(failure))

    assert (trial["status"], trial["error"]["code"]) == (status, code)
    assert (trial["error"]["retryable"], trial["answer"]) == (retryable, None)
    assert trial["error"]["message"]
    record = tries.record(trial["id"])
    usage = failure.seen.usage
    assert record
    assert record.output_tokens == (usage.output_tokens if usage else None)
    tries.carry_out(trial["id"], ExplodingProvider())


def test_a_fault_of_hango_s_own_ends_the_try(tries: Tries) -> None:
    class Broken(ScriptedProvider):
        def complete(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("secret words")

    trial = tries.answered(make_session(tries.alice, None, user("hi")), Broken())

    assert (trial["status"], trial["error"]["code"]) == ("failed", "internal")
    assert "secret" not in str(trial)


def test_a_queued_try_that_is_cancelled_calls_nobody(tries: Tries) -> None:
    trial = tries.begin(make_session(tries.alice, None, user("hi")))

    cancelled = tries.alice.delete(f"/v1/tries/{trial}")

    assert (cancelled.status_code, cancelled.json["status"]) == (200, "cancelled")
    assert tries.carry_out(trial, ExplodingProvider()) == cancelled.json
    assert tries.record(trial) is None
    assert tries.alice.delete(f"/v1/tries/{trial}").json == cancelled.json


def test_what_has_ended_stays_as_it_is(tries: Tries) -> None:
    session = make_session(tries.alice, None, user("hi"))
    trial = tries.answered(session, ScriptedProvider(says(text("Yes."))))

    assert tries.alice.delete(f"/v1/tries/{trial['id']}").json == trial
    assert tries.carry_out(trial["id"], ExplodingProvider()) == trial


def test_a_call_under_way_is_cancelled(tries: Tries, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "CANCEL_IS_ASKED_EVERY", 0)
    trial = tries.begin(make_session(tries.alice, None, user("hi")))

    class Cancelling(ScriptedProvider):
        def complete(self, body: Any, **bounds: Any) -> Any:
            assert tries.alice.delete(f"/v1/tries/{trial}").json["status"] == "running"
            return super().complete(body, **bounds)

    ended = tries.carry_out(trial, Cancelling(says(text("Too late."))))

    assert (ended["status"], ended["answer"], ended["error"]) == ("cancelled", None, None)
    record = tries.record(trial)
    assert record
    assert record.outcome == "cancelled"


def test_nothing_is_open_during_the_call(tries: Tries) -> None:
    """D28: with a single connection to the database all else goes on meanwhile."""
    session = make_session(tries.alice, None, user("hi"))

    class Looking(ScriptedProvider):
        def complete(self, body: Any, **bounds: Any) -> Any:
            with tries.runtime.database.reading(tries.alice.principal):
                pass
            assert tries.runtime.database._engine.pool.checkedout() == 0  # type: ignore[attr-defined]
            return super().complete(body, **bounds)

    assert tries.answered(session, Looking(says(text("Yes."))))["status"] == "succeeded"


def test_a_deadline_that_is_over_calls_nobody(tries: Tries) -> None:
    settings = replace(tries.runtime.settings, context_try_timeout=timedelta(0))
    late = Tries(tries.alice, replace(tries.runtime, settings=settings))
    trial = late.begin(make_session(tries.alice, None, user("hi")))

    ended = late.carry_out(trial, ExplodingProvider())

    assert (ended["status"], ended["error"]["code"]) == ("timed_out", "deadline_passed")
    assert tries.record(trial) is None


def limit(admin: Caller, tries: Tries, tokens: int | None) -> None:
    with tries.runtime.database.transaction(admin.principal) as tx:
        quota.replace(tx, Quota(limits=Limits(tokens=tokens)), now=tries.runtime.now())


def test_without_quota_no_try_is_accepted(tries: Tries, admin: Caller) -> None:
    session = make_session(tries.alice, None, user("hi"))

    for tokens in (0, 100):
        limit(admin, tries, tokens)
        assert_problem(tries.ask(session), 402, "quota_exceeded")

    assert tries.of(session) == []
    assert_problem(tries.ask(session, {"exclude": ["message:1"]}), 422, "overrides_refused")


def test_quota_that_is_gone_by_then_calls_nobody(tries: Tries, admin: Caller) -> None:
    trial = tries.begin(make_session(tries.alice, None, user("hi")))
    limit(admin, tries, 0)

    ended = tries.carry_out(trial, ExplodingProvider())

    assert (ended["status"], ended["error"]["code"]) == ("failed", "quota_exceeded")
    assert tries.record(trial) is None


def test_a_key_that_was_revoked_by_then_calls_nobody(tries: Tries, admin: Caller) -> None:
    trial = tries.begin(make_session(tries.alice, None, user("hi")))
    with tries.runtime.database.transaction(tries.alice.principal) as tx:
        assert tries.alice.principal.key_id
        tx.keys.revoke(tries.alice.principal.key_id)

    tries.carry_out(trial, ExplodingProvider())

    ended = admin.get(f"/v1/tries/{trial}").json
    assert (ended["status"], ended["error"]["code"]) == ("failed", "no_longer_allowed")


def test_a_session_that_is_deleted_takes_its_tries_along(tries: Tries) -> None:
    session = make_session(tries.alice, None, user("hi"))
    trial = tries.begin(session)
    assert tries.alice.delete(f"/v1/sessions/{session}").status_code == 204

    tries.carry_out(trial, ExplodingProvider())

    assert tries.alice.get(f"/v1/tries/{trial}").status_code == 404


def test_a_session_s_tries_are_listed_in_pages(tries: Tries) -> None:
    session = make_session(tries.alice, None, user("hi"))
    begun = [tries.begin(session) for _ in range(3)]
    path = f"/v1/sessions/{session}/context/tries"

    first = tries.alice.get(f"{path}?limit=2").json
    rest = tries.alice.get(f"{path}?limit=2&after={first['next']}").json

    assert [each["id"] for each in (*first["items"], *rest["items"])] == begun[::-1]
    assert rest["next"] is None
    assert tries.of(make_session(tries.alice)) == []
    assert_problem(tries.alice.get(f"/v1/sessions/{uuid4()}/context/tries"), 404, "not_found")


def test_the_same_key_again_is_the_same_try(tries: Tries) -> None:
    session = make_session(tries.alice, None, user("hi"))
    key = {"Idempotency-Key": "once"}

    first = tries.ask(session, {"message": "x"}, headers=key)
    again = tries.ask(session, {"message": "x"}, headers=key)

    assert (first.json, first.headers["Location"]) == (again.json, again.headers["Location"])
    assert again.headers["Idempotent-Replayed"] == "true"
    assert len(tries.of(session)) == 1
    other = tries.ask(session, {"message": "y"}, headers=key)
    assert_problem(other, 422, "idempotency_mismatch")


def test_tries_of_one_session_do_not_stand_in_each_other_s_way(tries: Tries) -> None:
    session = make_session(tries.alice, None, user("hi"))
    trials = [tries.begin(session, message=words) for words in ("one", "two")]
    run = tries.alice.post(f"/v1/sessions/{session}/runs", json={"message": "go on"})
    assert run.status_code == 202

    for trial in trials:
        assert tries.carry_out(trial)["status"] == "succeeded"


def test_an_agent_shared_by_another_is_tried_on_a_session_of_one_s_own(
    tries: Tries, admin: Caller
) -> None:
    agent = make_agent(admin, shared=True)
    session = made(tries.alice.post("/v1/sessions", json={"agent_id": agent}))["id"]
    append(tries.alice, session, user("hi"))

    trial = tries.begin(session, exclude=["system:agent"])

    assert tries.carry_out(trial)["status"] == "succeeded"
    assert tries.alice.get(f"/v1/agents/{agent}/context-overrides").json["overrides"] == []
