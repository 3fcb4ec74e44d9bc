"""Runs spend their tenant's quota, and stop where it ends."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from app.domain.ids import new_id
from app.domain.principals import Principal, Role
from app.domain.quota import Amount, Limits, Quota
from app.provider.failures import Overloaded
from app.services import quota
from tests.api.problems import assert_problem
from tests.engine.conftest import Runs, says
from tests.factories import make_agent, make_session
from tests.fakes.providers import ExplodingProvider, ScriptedProvider
from tests.fakes.strict_provider import text, tool_use
from workers.upkeep import purge_reservations

CACHED = {
    "input_tokens": 7,
    "cache_read_input_tokens": 9_000,
    "cache_creation_input_tokens": 1_000,
    "output_tokens": 5,
}


def limit(runs: Runs, tokens: int | None = None) -> None:
    alice = runs.alice.principal
    admin = Principal(tenant_id=alice.tenant_id, user_id=alice.user_id, role=Role.ADMIN)
    with runs.runtime.database.transaction(admin) as tx:
        quota.replace(tx, Quota(limits=Limits(tokens=tokens)), now=runs.runtime.now())


def standing(runs: Runs) -> Any:
    return runs.alice.get("/v1/quota").json


def test_a_run_moves_the_quota_by_all_of_its_tokens_once(runs: Runs) -> None:
    provider = ScriptedProvider(
        says(tool_use("nothing", "toolu_1"), usage=CACHED), says(text("Done."), usage=CACHED)
    )

    run = runs.answered(make_session(runs.alice), provider)

    assert run["usage"]["calls"] == 2
    assert standing(runs)["used"]["tokens"] == 2 * 10_012
    assert standing(runs)["reserved"]["tokens"] == 0
    report = runs.alice.get("/v1/usage?group_by=purpose").json
    assert report["total"]["whole_input_tokens"] == 2 * 10_007
    assert report["total"]["output_tokens"] == 2 * 5


def test_a_call_that_failed_holds_nothing_back(runs: Runs) -> None:
    runs.answered(make_session(runs.alice), ScriptedProvider(Overloaded()))

    assert standing(runs)["used"]["tokens"] == standing(runs)["reserved"]["tokens"] == 0


def test_a_call_that_could_use_more_than_is_left_is_not_made(runs: Runs) -> None:
    limit(runs, tokens=100)

    run = runs.answered(make_session(runs.alice), ExplodingProvider())

    assert run["status"] == "failed"
    assert run["error"]["code"] == "quota_exceeded"
    assert run["error"]["retryable"] is False
    assert runs.calls(run["id"]) == []


def test_a_run_ends_where_the_quota_does_and_keeps_its_turns(runs: Runs) -> None:
    agent = make_agent(runs.alice, max_tokens=1_000)
    session = make_session(runs.alice, agent)
    limit(runs, tokens=20_000)
    provider = ScriptedProvider(
        says(tool_use("nothing", "toolu_1"), usage={"input_tokens": 19_500})
    )

    run = runs.answered(session, provider)

    assert (run["status"], run["error"]["code"]) == ("failed", "quota_exceeded")
    assert [each["role"] for each in runs.messages(session)] == ["user", "assistant", "user"]


def test_no_run_is_begun_when_nothing_is_left(runs: Runs) -> None:
    session = make_session(runs.alice)
    limit(runs, tokens=0)

    refused = runs.alice.post(f"/v1/sessions/{session}/runs", json={"message": "hello"})

    problem = assert_problem(refused, 402, "quota_exceeded")
    assert problem["left"] == {"tokens": 0, "micro_dollars": None}
    assert problem["resets_at"] == standing(runs)["resets_at"]
    assert "Retry-After" not in refused.headers
    assert runs.messages(session) == []


def test_the_sweep_forgets_what_calls_of_long_ago_have_reserved(runs: Runs) -> None:
    old, running = new_id(), new_id()
    later = runs.runtime.now() + quota.KEPT_AFTER_LEASE + timedelta(hours=1)
    reserve(runs, old, runs.runtime.now())
    reserve(runs, running, later)

    purge_reservations(replace(runs.runtime, now=lambda: later))

    with runs.runtime.database.transaction(runs.alice.principal) as tx:
        assert not tx.quota.settle(old, Amount(), later.date())
        assert tx.quota.settle(running, Amount(), later.date())


def reserve(runs: Runs, record_id: UUID, now: datetime) -> None:
    with runs.runtime.database.transaction(runs.alice.principal) as tx:
        quota.reserve(tx, record_id, Amount(5), now=now, lease=timedelta(minutes=1))


@pytest.mark.committed
def test_of_fifty_runs_at_once_no_more_call_than_the_quota_holds(runs: Runs) -> None:
    usage = {"input_tokens": 4_000, "output_tokens": 1_000}
    agent = make_agent(runs.alice, max_tokens=8_000)  # so that more is reserved than is used
    limit(runs, tokens=10 * 5_000)
    provider = ScriptedProvider(*[says(text("Hi"), usage=usage) for _ in range(50)])
    begun = [runs.begin(make_session(runs.alice, agent)) for _ in range(50)]

    with ThreadPoolExecutor(8) as pool:
        ended = list(pool.map(lambda run: runs.carry_out(run, provider), begun))

    succeeded = [run for run in ended if run["status"] == "succeeded"]
    assert {run["error"]["code"] for run in ended if run["error"]} == {"quota_exceeded"}
    assert 1 <= len(succeeded) == len(provider.sent) <= 10
    assert standing(runs)["used"]["tokens"] == 5_000 * len(succeeded)
