"""Tries over real worker processes: waited for, killed, cancelled, kept waiting."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.runtime import build_runtime
from app.services import tries as tries_service
from app.settings import Secret
from app.web import create_app
from tests.api.problems import assert_problem
from tests.celery_worker import started
from tests.factories import make_session, until
from tests.fakes.strict_provider import Silence, Status, StrictProvider, Trickle
from tests.history import user
from tests.tries.conftest import Tries

TIMEOUT = 3  # seconds


@pytest.fixture
def strict() -> Iterator[StrictProvider]:
    with StrictProvider() as provider:
        yield provider


@pytest.fixture
def worker(
    tries: Tries, strict: StrictProvider, tmp_path: Path
) -> Iterator[subprocess.Popen[bytes]]:
    timeout = {"HANGO_CONTEXT_TRY_TIMEOUT": f"{TIMEOUT}s"}
    settings = tries.runtime.settings
    with started(settings, strict.url, tmp_path, "calls", **timeout) as process:
        yield process


@pytest.fixture
def session(tries: Tries) -> str:
    return make_session(tries.alice, None, user("hi"))


@pytest.mark.processes
def test_a_slow_provider_is_left_at_the_deadline_and_the_next_try_goes_on(
    tries: Tries, session: str, strict: StrictProvider, worker: Any
) -> None:
    """D33, D34: silent, or a byte now and then; one call, and no other behind it."""
    warm = tries.ask(session, query="?wait=60")
    assert (warm.status_code, warm.json["status"]) == (200, "succeeded")
    for fault in (Silence(), Trickle(seconds=0.2), Trickle(seconds=0.2, head=False)):
        strict.fail(fault)
        calls = len(strict.calls)

        ended = tries.ask(session, query="?wait=30").json

        assert (ended["status"], ended["error"]["code"]) == ("timed_out", "deadline_passed")
        assert len(strict.calls) == calls + 1
        assert tries.record(ended["id"])
    preferring = {"Prefer": "wait=30"}
    last = tries.ask(session, headers=preferring)
    assert (last.status_code, last.json["status"]) == (200, "succeeded")
    assert last.headers["Preference-Applied"] == "wait=30"


@pytest.mark.processes
def test_a_killed_worker_s_call_is_not_made_again(
    tries: Tries, session: str, strict: StrictProvider, worker: subprocess.Popen[bytes]
) -> None:
    """D32"""
    strict.fail(Silence())
    trial = tries.begin(session)
    strict.wait_for_calls(1, 60)

    worker.send_signal(signal.SIGKILL)
    worker.wait()
    until(lambda: _swept(tries, trial)["status"] == "failed")

    assert tries.get(trial)["error"]["code"] == "worker_lost"
    record = tries.record(trial)
    assert record
    assert (record.outcome, record.input_tokens) == ("unknown", None)
    tries.carry_out(trial)
    assert len(strict.calls) == 1


@pytest.mark.processes
def test_cancelling_reaches_a_call_that_runs(
    tries: Tries, session: str, strict: StrictProvider, worker: Any
) -> None:
    strict.fail(Silence(after=3))
    trial = tries.begin(session)
    strict.wait_for_calls(1, 60)

    assert tries.alice.delete(f"/v1/tries/{trial}").json["status"] == "running"
    ended = tries.alice.get(f"/v1/tries/{trial}?wait=20").json

    assert ended["status"] == "cancelled"
    assert tries.record(trial)


@pytest.mark.processes
def test_a_provider_that_says_when_to_come_back_later_ends_the_try_at_once(
    tries: Tries, session: str, strict: StrictProvider, worker: Any
) -> None:
    """D34: the wait that it asks for is longer than the try may take."""
    strict.fail(Status(429, "rate_limit_error", headers={"retry-after": "60"}))

    ended = tries.ask(session, query="?wait=60").json

    assert (ended["status"], ended["error"]["code"]) == ("failed", "provider_rate_limited")
    assert len(strict.calls) == 1


def _swept(tries: Tries, trial: str) -> Any:
    tries_service.sweep(tries.runtime)
    return tries.get(trial)


def test_without_a_broker_nothing_is_accepted(tries: Tries, session: str) -> None:
    """D29: told at once, each time; and it works again as soon as the broker does."""
    away = replace(tries.runtime.settings, redis_url=Secret("redis://127.0.0.1:9/0"))
    cut_off = build_runtime(away)
    client = create_app(cut_off).test_client()
    cut = Tries(replace(tries.alice, client=client), cut_off)

    for _ in range(2):
        assert_problem(cut.ask(session), 503, "broker_unavailable")
    assert tries.of(session) == []
    put = f"/v1/sessions/{session}/context-overrides"
    assert cut.alice.put(put, json={"overrides": []}).status_code == 200

    cut_off.database.dispose()
    cut_off.queue.close()
    assert tries.carry_out(tries.begin(session))["status"] == "succeeded"


def test_tries_count_against_the_rate_limit(tries: Tries, session: str) -> None:
    """D35: and say when to come back."""
    limited = build_runtime(replace(tries.runtime.settings, rate_limit_per_minute=1))
    alice = replace(tries.alice, client=create_app(limited).test_client())
    few = Tries(alice, limited)
    few.begin(session)

    refused = few.ask(session)

    assert_problem(refused, 429, "rate_limited")
    assert int(refused.headers["Retry-After"]) >= 1
    assert len(tries.of(session)) == 1
    limited.database.dispose()
    limited.redis.close()
    limited.queue.close()


def test_a_wait_that_is_too_short_answers_with_what_stands(tries: Tries, session: str) -> None:
    reply = tries.ask(session, query="?wait=1")

    assert (reply.status_code, reply.json["status"]) == (202, "queued")
    assert reply.headers["Retry-After"] == "1"
    assert_problem(tries.ask(session, query="?wait=soon"), 422, "bad_parameter")
