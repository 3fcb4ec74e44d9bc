"""What is left of tries: by workers that died, by a queue that lost them, by time."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from app.services import tries as tries_service
from app.services import work
from app.store import tables
from tests.api.problems import assert_problem
from tests.engine.conftest import says
from tests.factories import make_session
from tests.fakes.providers import ScriptedProvider
from tests.fakes.strict_provider import text
from tests.history import user
from tests.tries.conftest import Tries


def lost(tries: Tries, trial: str) -> Any:
    """A worker claims the try and dies: its lease is over as soon as it began."""
    none = timedelta(0)
    with tries.runtime.database.system() as tx:
        return tx.tries.claim(UUID(trial), worker="dead", lease=none, timeout=timedelta(hours=1))


def test_a_try_whose_worker_died_before_the_call_is_taken_up_again(tries: Tries) -> None:
    trial = tries.begin(make_session(tries.alice, None, user("hi")))
    assert lost(tries, trial)
    tries.runtime.redis.flushdb()

    tries_service.sweep(tries.runtime)

    assert tries.get(trial)["status"] == "queued"
    assert tries.runtime.redis.llen("hango:calls") == 1
    assert tries.carry_out(trial)["status"] == "succeeded"


def test_what_was_thought_dead_writes_no_answer_but_what_it_cost(tries: Tries) -> None:
    session = make_session(tries.alice, None, user("hi"))
    settings = replace(tries.runtime.settings, run_lease=timedelta(0))
    slow = Tries(tries.alice, replace(tries.runtime, settings=settings))

    class Slow(ScriptedProvider):
        def complete(self, body: Any, **bounds: Any) -> Any:
            answer = super().complete(body, **bounds)
            tries_service.sweep(tries.runtime)
            return answer

    trial = slow.answered(session, Slow(says(text("Too late."))))

    assert (trial["status"], trial["error"]["code"]) == ("failed", "worker_lost")
    assert trial["answer"] is None
    record = tries.record(trial["id"])
    assert record
    assert (record.outcome, record.output_tokens) == ("succeeded", 10)


def test_no_claim_outlives_its_deadline_by_much(tries: Tries) -> None:
    """Whatever the lease: the sweep finds a dead worker's try within 30 s of the deadline."""
    trial = tries.begin(make_session(tries.alice, None, user("hi")))
    day = timedelta(days=1)
    with tries.runtime.database.system() as tx:
        claimed = tx.tries.claim(UUID(trial), worker="w", lease=day, timeout=timedelta(minutes=-1))
        assert claimed
        assert tx.tries.renew([claimed.held], day) == {claimed.held: False}

    tries_service.sweep(tries.runtime)

    assert tries.get(trial)["status"] == "queued"


def test_a_try_that_no_worker_was_told_of_is_nudged(
    tries: Tries, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "NUDGE_AFTER", timedelta(0))
    tries.begin(make_session(tries.alice, None, user("hi")))
    tries.runtime.redis.flushdb()

    tries_service.sweep(tries.runtime)

    assert tries.runtime.redis.llen("hango:calls") == 1


def test_what_is_past_its_time_is_purged_with_all_it_holds(
    tries: Tries, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D31: one that had called the model was here, as its usage tells; of another nobody knows."""
    monkeypatch.setattr(tries_service, "PURGE_BATCH", 1)
    settings = replace(tries.runtime.settings, try_retention=timedelta(0))
    session = make_session(tries.alice, None, user("hi"))
    kept = tries.answered(session, ScriptedProvider(says(text("Kept."))))
    short = Tries(tries.alice, replace(tries.runtime, settings=settings))
    path = f"/v1/sessions/{session}/context/try"
    monkeypatch.setattr("app.api.tries.runtime", lambda: short.runtime)
    called, never, queued = (tries.alice.post(path, json={}).json["id"] for _ in range(3))
    short.carry_out(called, ScriptedProvider(says(text("Gone."))))
    tries.alice.delete(f"/v1/tries/{never}")

    tries_service.purge(tries.runtime)

    assert [each["id"] for each in tries.of(session)] == [queued, kept["id"]]
    assert_problem(tries.alice.get(f"/v1/tries/{called}"), 410, "gone")
    assert_problem(tries.alice.get(f"/v1/tries/{never}"), 404, "not_found")
    assert tries.record(called)


def test_what_a_try_goes_by_is_kept_no_longer_than_it_takes(tries: Tries) -> None:
    session = make_session(tries.alice, None, user("hi"))
    ended, cancelled = tries.begin(session), tries.begin(session)
    assert None not in plans(tries)

    tries.carry_out(ended)
    tries.alice.delete(f"/v1/tries/{cancelled}")

    assert plans(tries) == [None, None]


def plans(tries: Tries) -> list[Any]:
    with tries.runtime.database.system() as tx:
        return list(tx.tries._connection.execute(select(tables.tries.c.loaded)).scalars())
