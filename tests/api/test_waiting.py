"""Long waits: woken when the run ends, few enough to leave room, and no weight on the database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.api import waiting
from app.events import Events
from app.provider.offline import OfflineProvider
from app.runtime import Runtime, build_runtime
from app.services import execution
from app.settings import Settings
from tests.factories import Caller, make_session, until

LONG = 60  # seconds: longer than any of these tests waits for the end


@pytest.fixture
def runtime(settings: Settings, clean_database: None, clean_redis: None) -> Iterator[Runtime]:
    """Room for one wait, and one connection to the database."""
    narrow = replace(settings, rate_limit_per_minute=0, max_waits=1, database_pool=1)
    made = build_runtime(narrow)
    yield made
    made.database.dispose()
    made.redis.close()
    made.queue.close()


@pytest.fixture
def run(member: Caller) -> str:
    begun = member.post(f"/v1/sessions/{make_session(member)}/runs", json={"message": "hi"})
    return str(begun.json["id"])


@pytest.fixture
def wait(app: Flask, member: Caller, run: str) -> Iterator[Callable[[], Future[TestResponse]]]:
    """Begins to wait, and gives what will be answered."""
    pool = ThreadPoolExecutor()

    def begin() -> Future[TestResponse]:
        waiter = replace(member, client=app.test_client())
        answer = pool.submit(waiter.get, f"/v1/runs/{run}?wait={LONG}")
        until(lambda: run in _hub(app)._waiting)
        return answer

    yield begin
    pool.shutdown()


def _hub(app: Flask) -> Any:
    with app.app_context():
        return waiting._hub()


def test_a_wait_ends_with_the_run(
    runtime: Runtime, run: str, wait: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "_LOOK_EVERY", LONG)
    answer = wait()

    execution.execute(runtime, UUID(run))

    assert answer.result(20).json["status"] == "succeeded"


def test_a_lost_wake_up_is_found_out(
    runtime: Runtime, run: str, wait: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "_LOOK_EVERY", 0.05)
    monkeypatch.setattr(Events, "ended", lambda *_: None)
    answer = wait()

    execution.execute(runtime, UUID(run))

    assert answer.result(20).json["status"] == "succeeded"


def test_a_cancelled_run_wakes_who_waits(
    member: Caller, run: str, wait: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "_LOOK_EVERY", LONG)
    answer = wait()

    member.delete(f"/v1/runs/{run}")

    assert answer.result(20).json["status"] == "cancelled"


def test_one_wait_too_many_is_told_to_come_back(member: Caller, run: str, wait: Any) -> None:
    answer = wait()

    told = member.get(f"/v1/runs/{run}?wait={LONG}")

    assert (told.status_code, told.json["status"]) == (200, "queued")
    assert told.headers["Retry-After"] == "1"
    member.delete(f"/v1/runs/{run}")
    assert answer.result(20).json["status"] == "cancelled"


def test_a_run_that_has_ended_is_not_waited_for(member: Caller, runtime: Runtime, run: str) -> None:
    execution.execute(replace(runtime, provider=OfflineProvider()), UUID(run))

    waited = member.get(f"/v1/runs/{run}?wait={LONG}")

    assert waited.json == member.get(f"/v1/runs/{run}").json


@pytest.mark.parametrize(
    ("prefer", "applied"),
    [("wait=1", "wait=1"), ('respond-async, wait="1"', "wait=1"), ("wait=1; x=y", "wait=1"),
     ("wait=-1", None), ("wait=soon", None), ("respond-async", None)],
)  # fmt: skip
def test_a_preference_is_honoured_or_ignored(
    member: Caller, run: str, prefer: str, applied: str | None
) -> None:
    member.delete(f"/v1/runs/{run}")

    reply = member.get(f"/v1/runs/{run}", headers={"Prefer": prefer})

    assert reply.status_code == 200
    assert reply.headers.get("Preference-Applied") == applied


@pytest.mark.parametrize("wait", ["-1", "soon", "1.5", ""])
def test_a_wait_that_is_no_number_is_refused(member: Caller, run: str, wait: str) -> None:
    assert member.get(f"/v1/runs/{run}?wait={wait}").status_code == 422


def test_a_wait_of_nothing_is_none(member: Caller, run: str) -> None:
    assert member.get(f"/v1/runs/{run}?wait=0").json["status"] == "queued"
