"""Ablations while workers are killed, connections are cut, and somebody cancels."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from app.services import ablations
from tests.factories import make_session, until
from tests.fakes.strict_provider import Silence
from tests.faults.brakes import brakes
from tests.faults.conftest import FINAL, Stage, database_of, id_of
from tests.history import assistant, user

pytestmark = pytest.mark.processes

PARTS = ["message:2", "system:agent"]
TRIES = 2 + len(PARTS)


def begin(stage: Stage) -> str:
    """Its path."""
    session = make_session(stage.alice, None, user("hi"), assistant("hello"), user("and now?"))
    body = {"parts": PARTS, "max_cost": None}
    reply = stage.alice.post(f"/v1/sessions/{session}/context/ablations", json=body)
    assert reply.status_code == 202, reply.text
    return f"/v1/ablations/{reply.json['id']}"


def ended(stage: Stage, path: str) -> Any:
    """As it is when it has ended, with the help of the sweeps."""

    def swept() -> bool:
        ablations.sweep(stage.runtime)
        return stage.swept(path)["status"] in FINAL

    until(swept, 30)
    return stage.get(path)


def test_workers_carry_it_through_on_their_own(stage: Stage) -> None:
    """No sweep helps: each try that ends has the next ones started, and who waits is woken."""
    path = begin(stage)

    done = stage.get(f"{path}?wait=30")

    assert (done["status"], done["progress"]) == ("succeeded", {"done": TRIES, "total": TRIES})
    assert len(stage.strict.calls) == TRIES
    assert stage.strict.refusals == []
    assert done["cost"]["micro_dollars"] > 0


def test_a_killed_worker_s_call_is_not_made_again_and_the_others_go_on(stage: Stage) -> None:
    stage.strict.fail(Silence())
    path = begin(stage)
    stage.strict.wait_for_calls(2)
    silent = running(stage, path)
    ((worker,),) = stage.ask("SELECT worker FROM tries WHERE id = %s", silent)
    os.kill(int(worker.rpartition(":")[2]), signal.SIGKILL)

    done = ended(stage, path)

    assert done["status"] == "succeeded"
    lost = next(row for row in done["baselines"] if row["try_id"] == silent)
    assert (lost["state"], lost["error"]["code"]) == ("failed", "worker_lost")
    assert {row["state"] for row in done["parts"]} == {"succeeded"}
    assert done["noise"] is None
    assert len(stage.strict.calls) == TRIES


def test_a_connection_that_is_cut_while_the_next_are_started_starts_none_twice(
    stage: Stage,
) -> None:
    with brakes(stage.runtime.settings) as (brake,):
        path = begin(stage)
        brake.on_row("ablations", id_of(path))
        brake.wait()
        cut_all_that_wait(stage)

    done = ended(stage, path)

    assert done["status"] == "succeeded"
    assert len(stage.strict.calls) == TRIES


def test_cancelling_breaks_off_what_runs_and_starts_no_more(stage: Stage) -> None:
    stage.strict.fail(Silence(), times=None)
    path = begin(stage)
    stage.strict.wait_for_calls(2)

    asked = stage.alice.delete(path).json
    done = stage.get(f"{path}?wait=20")

    assert asked["cancel_requested_at"]
    assert done["status"] == "cancelled"
    assert {row["state"] for row in done["baselines"]} == {"cancelled"}
    assert {row["state"] for row in done["parts"]} == {"skipped"}
    assert len(stage.strict.calls) == 2


def running(stage: Stage, path: str) -> str:
    """The try whose call is not answered, when it is the only one."""

    def open_ones() -> list[Any]:
        rows = stage.get(path)["baselines"]
        return [row["try_id"] for row in rows if row["state"] == "running"]

    until(lambda: len(open_ones()) == 1)
    return str(open_ones()[0])


def cut_all_that_wait(stage: Stage) -> None:
    """Close the connection of everybody who waits for a lock."""
    with database_of(stage.runtime.settings) as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE cardinality(pg_blocking_pids(pid)) > 0"
        )
