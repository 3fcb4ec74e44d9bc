"""Waiting for an end: how often the server is asked, for how long, and what comes of it."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

import cli.waiting
from cli import configuration
from cli.exits import Exit, Stop
from cli.http import Api
from cli.waiting import failure, until_final
from tests.cli.shell import KEY, Canned

RUNNING = {"id": "r", "status": "running"}
DONE = {"id": "r", "status": "succeeded"}


class Clock:
    """A time that passes only while somebody sleeps, or a server holds a request back."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(cli.waiting, "time", clock)
    return clock


@pytest.fixture
def api(server: Canned) -> Api:
    return Api(configuration.server(server.url, KEY, None), 5)


def waits(server: Canned) -> list[str]:
    return [each.target for each in server.requests]


def test_a_server_that_holds_back_is_asked_again_at_once(
    server: Canned, api: Api, clock: Clock
) -> None:
    server.answers_json(RUNNING, DONE)
    running, done = server.answers

    def held_back(handler: BaseHTTPRequestHandler) -> None:
        clock.now += 30
        running(handler)

    server.answers[:] = [held_back, held_back, done]

    assert until_final(api, "v1", "runs", "r", seconds=600) == DONE
    assert waits(server) == ["/v1/runs/r?wait=30"] * 3
    assert sum(clock.slept) == 0


def test_a_server_that_answers_at_once_is_left_alone_for_a_while(
    server: Canned, api: Api, clock: Clock
) -> None:
    server.answers_json(RUNNING)
    server.answers_json(RUNNING, headers={"Retry-After": "7"})
    server.answers_json(DONE)

    assert until_final(api, "v1", "runs", "r", seconds=600) == DONE
    assert clock.slept == [1, 7]


def test_when_the_time_is_up_it_is_told_as_it_stands(
    server: Canned, api: Api, clock: Clock
) -> None:
    server.answers_json(RUNNING, headers={"Retry-After": "3600"})

    assert until_final(api, "v1", "runs", "r", seconds=12.5) == RUNNING
    assert waits(server) == ["/v1/runs/r?wait=12", "/v1/runs/r?wait=0"]
    assert clock.now == 12.5


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_server_that_is_away_for_a_moment_is_asked_again(
    server: Canned, api: Api, clock: Clock, status: int
) -> None:
    server.answers_json({}, {}, status=status)
    server.answers_json({}, status=status, headers={"Retry-After": "5"})
    server.answers_json(DONE)

    assert until_final(api, "v1", "runs", "r", seconds=600, standing=RUNNING) == DONE
    assert clock.slept == [1, 2, 5]


def test_a_server_that_stays_away_is_given_up(server: Canned, api: Api, clock: Clock) -> None:
    server.answers_json({"code": "unavailable"}, status=503)

    with pytest.raises(Stop):
        until_final(api, "v1", "runs", "r", seconds=600, standing=RUNNING)
    assert len(server.requests) == cli.waiting.MOST_FAILURES + 1


@pytest.mark.parametrize(("standing", "status"), [(None, 503), (RUNNING, 404), (RUNNING, 401)])
def test_what_will_not_pass_is_told_at_once(
    server: Canned, api: Api, clock: Clock, standing: Any, status: int
) -> None:
    server.answers_json({}, status=status)

    with pytest.raises(Stop):
        until_final(api, "v1", "runs", "r", seconds=600, standing=standing)
    assert len(server.requests) == 1


@pytest.mark.parametrize("document", [[], {"id": "r"}, {"status": "running"}, "succeeded", None])
def test_an_answer_without_a_status_ends_the_waiting(
    server: Canned, api: Api, clock: Clock, document: Any
) -> None:
    server.answers_json(document)

    with pytest.raises(Stop, match="no status"):
        until_final(api, "v1", "runs", "r", seconds=600)


@pytest.mark.parametrize(
    ("status", "code", "exit_code"),
    [
        ("failed", "worker_lost", Exit.FAILED),
        ("failed", None, Exit.FAILED),
        ("failed", "quota_exceeded", Exit.LIMITED),
        ("failed", "provider_rate_limited", Exit.LIMITED),
        ("timed_out", "deadline_passed", Exit.TIMED_OUT),
        ("cancelled", None, Exit.FAILED),
        ("exploded", None, Exit.FAILED),
    ],
)
def test_an_ending_has_its_exit_code(status: str, code: str | None, exit_code: Exit) -> None:
    error = {"code": code, "message": "Because.", "retryable": True} if code else None

    stop = failure("Try", {"id": "t", "status": status, "error": error})

    assert stop is not None
    assert stop.exit_code == exit_code
    assert ("Because. The same may succeed later." in stop.line) == bool(code)


@pytest.mark.parametrize("status", ["succeeded", "queued", "running"])
def test_what_has_not_failed_is_no_failure(status: str) -> None:
    assert failure("Try", {"id": "t", "status": status}) is None
