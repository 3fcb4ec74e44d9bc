"""Runs over real worker processes: started, killed, and taken up by others."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg2
import pytest

from app.domain.work import MAX_STARTS
from app.engine.leases import Leases
from app.provider.base import Provider
from app.runtime import Runtime
from app.services import execution, work
from app.services import runs as runs_service
from tests.celery_worker import started
from tests.engine.conftest import Runs, says
from tests.factories import make_session, until
from tests.fakes.providers import ExplodingProvider, ScriptedProvider
from tests.fakes.strict_provider import Silence, StrictProvider, text, tool_use


@pytest.fixture
def strict() -> Iterator[StrictProvider]:
    with StrictProvider() as provider:
        yield provider


@pytest.fixture
def worker(runs: Runs, strict: StrictProvider, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    with started(runs.runtime.settings, strict.url, tmp_path, "runs") as process:
        yield process


@pytest.mark.processes
def test_a_killed_worker_s_call_is_not_made_again(
    runs: Runs, strict: StrictProvider, worker: subprocess.Popen[bytes]
) -> None:
    """D32, and D09 after it: nothing is paid twice, and the session goes on."""
    session = make_session(runs.alice)
    first = runs.begin(session, "one")
    until(lambda: runs.get(first)["status"] == "succeeded", 60)  # so the worker is there
    strict.fail(Silence())
    run = runs.begin(session, "two")
    strict.wait_for_calls(2)

    worker.send_signal(signal.SIGKILL)
    worker.wait()
    until(lambda: _swept(runs, run)["status"] == "failed")

    ended = runs.get(run)
    assert ended["error"]["code"] == "worker_lost"
    (call,) = runs.calls(run)
    assert (call["outcome"], call["input_tokens"]) == ("unknown", None)
    assert len(strict.calls) == 2
    after = runs.answered(session, ScriptedProvider(says(text("Three."))), "three")
    assert after["status"] == "succeeded"


@pytest.mark.processes
def test_a_running_call_is_cancelled_and_the_next_run_goes_on(
    runs: Runs, strict: StrictProvider, worker: subprocess.Popen[bytes]
) -> None:
    session = make_session(runs.alice)
    strict.fail(Silence(after=3))
    run = runs.begin(session, "one")
    strict.wait_for_calls(1, 60)

    assert runs.alice.delete(f"/v1/runs/{run}").json["status"] == "running"
    ended = runs.alice.get(f"/v1/runs/{run}?wait=20").json

    assert ended["status"] == "cancelled"
    assert runs.calls(run)[0]["outcome"] == "cancelled"
    again = runs.begin(session, "two")
    assert runs.alice.get(f"/v1/runs/{again}?wait=20").json["status"] == "succeeded"


def _swept(runs: Runs, run: str) -> Any:
    runs_service.sweep(runs.runtime)
    return runs.get(run)


def short_lived(runs: Runs, provider: Provider) -> Runtime:
    """A worker whose claims are over as soon as they are made."""
    settings = replace(runs.runtime.settings, run_lease=timedelta(0))
    return replace(runs.runtime, settings=settings, provider=provider)


def lost(runs: Runs, run: str, *, under_way: bool = False) -> None:
    """A worker claims the run and dies: its lease is over as soon as it began."""
    with runs.runtime.database.system() as tx:
        claimed = tx.runs.claim(
            UUID(run), worker="dead", lease=timedelta(0), timeout=timedelta(hours=1)
        )
    assert claimed
    if under_way:
        with runs.runtime.database.transaction(claimed.principal) as tx:
            tx.runs.begin_call(claimed.held)


def test_a_run_that_nothing_was_under_way_for_is_taken_up_again(runs: Runs) -> None:
    session = make_session(runs.alice)
    run = runs.begin(session)
    runs.runtime.redis.flushdb()
    lost(runs, run)

    assert _swept(runs, run)["status"] == "queued"
    assert runs.runtime.redis.llen("hango:runs") == 1

    assert runs.carry_out(run, ScriptedProvider(says(text("Here."))))["status"] == "succeeded"
    assert len(runs.messages(session)) == 2


def test_one_that_a_call_was_under_way_for_fails(runs: Runs) -> None:
    run = runs.begin(make_session(runs.alice))
    lost(runs, run, under_way=True)

    ended = _swept(runs, run)

    assert (ended["status"], ended["error"]["code"]) == ("failed", "worker_lost")


def test_a_job_that_kills_its_workers_is_started_so_often_and_no_more(runs: Runs) -> None:
    run = runs.begin(make_session(runs.alice))

    for start in range(1, MAX_STARTS + 1):
        lost(runs, run)
        expected = "queued" if start < MAX_STARTS else "failed"
        assert _swept(runs, run)["status"] == expected

    assert runs.carry_out(run, ExplodingProvider())["status"] == "failed"


def test_a_run_whose_worker_died_after_it_was_to_be_cancelled_is_cancelled(runs: Runs) -> None:
    run = runs.begin(make_session(runs.alice))
    lost(runs, run)
    runs.alice.delete(f"/v1/runs/{run}")

    assert _swept(runs, run)["status"] == "cancelled"


def test_a_slow_call_keeps_its_claim(runs: Runs) -> None:
    run = runs.begin(make_session(runs.alice))
    settings = replace(runs.runtime.settings, run_lease=timedelta(seconds=1))
    leases = Leases(runs.runtime.database, settings.run_lease)

    class Slow(ScriptedProvider):
        def complete(self, body: Any, **bounds: Any) -> Any:
            claimed_until = lease_of(runs, run)
            until(lambda: lease_of(runs, run) > claimed_until)
            assert _swept(runs, run)["status"] == "running"
            return super().complete(body, **bounds)

    provider = Slow(says(text("Here.")))
    execution.execute(
        replace(runs.runtime, settings=settings, leases=leases, provider=provider), UUID(run)
    )

    assert runs.get(run)["status"] == "succeeded"


def lease_of(runs: Runs, run: str) -> Any:
    url = runs.runtime.settings.admin_database_url
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT lease_until FROM runs WHERE id = %s", [run])
        return cursor.fetchone()[0]


def test_what_was_thought_dead_writes_nothing(runs: Runs) -> None:
    """A worker that was away for longer than its lease finds the run settled."""
    session = make_session(runs.alice)
    run = runs.begin(session)

    class Slow(ScriptedProvider):
        def complete(self, body: Any, **bounds: Any) -> Any:
            answer = super().complete(body, **bounds)
            assert _swept(runs, run)["error"]["code"] == "worker_lost"
            return answer

    execution.execute(short_lived(runs, Slow(says(text("Too late.")))), UUID(run))

    assert runs.get(run)["status"] == "failed"
    assert len(runs.messages(session)) == 1


def test_a_run_goes_on_behind_its_last_stored_turn_as_it_began(runs: Runs) -> None:
    """The second worker sends the same system and tools, and repeats neither call nor tool."""
    session = make_session(runs.alice)
    agent = runs.alice.get(f"/v1/sessions/{session}").json["agent_id"]
    run = runs.begin(session)

    class Dying(ScriptedProvider):
        @property
        def name(self) -> str:
            """Asked for when a call is noted; then this worker dies, if a turn is stored."""
            if len(runs.messages(session)) > 1:
                raise KeyboardInterrupt
            return "scripted"

    first = Dying(says(tool_use("write_file", path="/a", content="a")))
    with pytest.raises(KeyboardInterrupt):
        execution.execute(short_lived(runs, first), UUID(run))
    runs.alice.patch(f"/v1/agents/{agent}", json={"system_prompt": "Another."})
    assert _swept(runs, run)["status"] == "queued"
    second = ScriptedProvider(says(text("Done.")))

    ended = runs.carry_out(run, second)

    assert (ended["status"], ended["turns"], ended["messages"]) == ("succeeded", 2, [1, 2, 3, 4])
    assert second.sent[0]["system"] == first.sent[0]["system"]
    assert [call["call"] for call in runs.calls(run)] == [1, 2]


def test_a_run_that_no_worker_was_told_of_is_nudged(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "NUDGE_AFTER", timedelta(0))
    runs.begin(make_session(runs.alice))
    runs.runtime.redis.flushdb()

    runs_service.sweep(runs.runtime)
    runs_service.sweep(runs.runtime)  # workers that are behind are told no second time

    assert runs.runtime.redis.llen("hango:runs") == 1


def test_a_job_that_was_lost_is_found_also_while_workers_are_behind(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "NUDGE_AFTER", timedelta(0))
    lost_one = runs.begin(make_session(runs.alice))
    runs.runtime.redis.delete("hango:runs")
    runs.begin(make_session(runs.alice))

    runs_service.sweep(runs.runtime)

    assert any(lost_one.encode() in job for job in runs.runtime.redis.lrange("hango:runs", 0, -1))
