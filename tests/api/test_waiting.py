"""Long waits: woken when the run ends, few enough to leave room, and no weight on the database."""

from __future__ import annotations

import socket
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.api import hub, waiting
from app.api.hub import Hub
from app.events import Events
from app.provider.offline import OfflineProvider
from app.runtime import Runtime, build_runtime
from app.services import execution
from app.settings import Settings
from tests.factories import Caller, make_session, until

LONG = 60  # seconds: longer than any of these tests waits for the end
NEVER = float("inf")


@pytest.fixture
def waits() -> int:
    """For so many there is room."""
    return 1


@pytest.fixture
def runtime(
    settings: Settings, clean_database: None, clean_redis: None, waits: int
) -> Iterator[Runtime]:
    """Room for few waits, and one connection to the database."""
    narrow = replace(settings, rate_limit_per_minute=0, max_waits=waits, database_pool=1)
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
def wait(app: Flask, member: Caller, run: str) -> Iterator[Callable[..., Future[TestResponse]]]:
    """Begins to wait, and gives what will be answered."""
    pool = ThreadPoolExecutor()

    def begin(caller: Caller = member, run: str = run, **request: Any) -> Future[TestResponse]:
        waiter = replace(caller, client=app.test_client())
        places = len(_places(app, run))
        answer = pool.submit(waiter.get, f"/v1/runs/{run}?wait={LONG}", **request)
        until(lambda: len(_places(app, run)) > places)
        return answer

    yield begin
    pool.shutdown()


def _hub(app: Flask) -> Any:
    with app.app_context():
        return waiting._hub()


def _places(app: Flask, run: str) -> Collection[Any]:
    places: Collection[Any] = _hub(app)._waiting.get(run, ())
    return places


def test_a_wait_ends_with_the_run(
    runtime: Runtime, run: str, wait: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "LOOK_EVERY", NEVER)
    answer = wait()

    execution.execute(runtime, UUID(run))

    assert answer.result(20).json["status"] == "succeeded"


def test_a_lost_wake_up_is_found_out(
    runtime: Runtime, run: str, wait: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "LOOK_EVERY", 0.05)
    monkeypatch.setattr(Events, "ended", lambda *_: None)
    answer = wait()

    execution.execute(runtime, UUID(run))

    assert answer.result(20).json["status"] == "succeeded"


@pytest.mark.parametrize("moment", ["listen", "wait"])
def test_a_run_that_ends_while_the_wait_begins_is_not_missed(
    member: Caller, runtime: Runtime, run: str, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Behind the look at its row; before the subscription, and with it."""
    monkeypatch.setattr(hub, "LOOK_EVERY", NEVER)
    begin = getattr(Hub, moment)

    def late(*given: Any) -> Any:
        execution.execute(runtime, UUID(run))
        return begin(*given)

    monkeypatch.setattr(Hub, moment, late)

    assert member.get(f"/v1/runs/{run}?wait={LONG}").json["status"] == "succeeded"


def test_a_subscription_that_broke_costs_no_wake_up(
    runtime: Runtime, run: str, wait: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when Redis was restarted."""
    monkeypatch.setattr(hub, "LOOK_EVERY", NEVER)
    monkeypatch.setattr(hub, "RECONNECT_AFTER", 0.01)
    monkeypatch.setattr(Events, "ended", lambda *_: None)
    answer = wait()
    redis = runtime.redis

    def subscribed() -> list[Any]:
        own = str(redis.connection_pool.connection_kwargs.get("db", 0))
        return [each["id"] for each in redis.client_list(_type="pubsub") if each["db"] == own]

    until(lambda: len(subscribed()) == 1)
    execution.execute(runtime, UUID(run))

    for each in subscribed():
        redis.client_kill_filter(_id=each)

    assert answer.result(20).json["status"] == "succeeded"


def test_a_client_that_went_away_frees_its_place(
    app: Flask, member: Caller, run: str, wait: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "LOOK_EVERY", 0.05)
    server, client = socket.socketpair()
    with server, client:
        gone = wait(environ_overrides={"gunicorn.socket": server})
        client.close()

        assert gone.result(20).json["status"] == "queued"
        another = wait()
    member.delete(f"/v1/runs/{run}")
    assert another.result(20).json["status"] == "cancelled"


@pytest.mark.parametrize("waits", [8])
def test_who_wakes_up_together_gets_only_what_is_its_own_to_see(
    app: Flask, member: Caller, admin: Caller, runtime: Runtime, run: str, wait: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """They are read for each other: by one for all of a principal."""
    monkeypatch.setattr(hub, "LOOK_EVERY", NEVER)
    monkeypatch.setattr(Events, "ended", lambda *_: None)
    sessions = [make_session(member) for _ in range(2)]
    deleted, queued = (
        str(member.post(f"/v1/sessions/{each}/runs", json={"message": "hi"}).json["id"])
        for each in sessions
    )
    own = [wait(run=each) for each in (run, deleted, queued, run)]
    others = [wait(admin, run=each) for each in (run, deleted)]
    execution.execute(runtime, UUID(run))
    member.delete(f"/v1/runs/{deleted}")
    member.delete(f"/v1/sessions/{sessions[0]}")

    waiting.let_go(app)

    first, gone, open_still, second = (each.result(20) for each in own)
    assert [first.json["status"], open_still.json["status"]] == ["succeeded", "queued"]
    assert (first.json, gone.status_code) == (second.json, 404)
    assert [each.result(20).status_code for each in others] == [200, 404]
    assert others[0].result().json == first.json


def test_a_cancelled_run_wakes_who_waits(
    member: Caller, run: str, wait: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "LOOK_EVERY", NEVER)
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
