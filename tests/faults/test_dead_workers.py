"""Worker processes killed at each step of a run and of a try (D32, and D09 after it).

Whatever they were at, there is one final state, no call is paid twice, and the session goes on.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

from app.domain.work import MAX_STARTS
from app.services import tries
from tests.factories import until
from tests.fakes.strict_provider import Reply, Silence, text, tool_use
from tests.faults.brakes import READING, WRITING, Brake, brakes
from tests.faults.conftest import BOTH, Stage, database_of, id_of, kind_of

pytestmark = pytest.mark.processes


def kill_worker_of(stage: Stage, path: str) -> None:
    """Kill the process that has claimed it, as soon as one has."""

    def worker() -> str:
        asked = f"SELECT coalesce(worker, '') FROM {kind_of(path)} WHERE id = %s"
        ((name,),) = stage.ask(asked, id_of(path))
        return str(name)

    until(lambda: worker() != "")  # other work may have met the same brake before it
    os.kill(int(worker().rpartition(":")[2]), signal.SIGKILL)


def when_asked(stage: Stage, then: Callable[[], object], *blocks: Any) -> None:
    """Do something while the next call is being answered."""

    def script(_body: Any) -> Reply:
        stage.strict.answer_by(None)
        then()
        return Reply(blocks=list(blocks))

    stage.strict.answer_by(script)


def goes_on(stage: Stage, session: str) -> None:
    """The provider, who refuses what the real one refuses, takes the session's next request."""
    after = stage.ended(stage.begin("runs", session, "and now?"))
    assert (after["status"], stage.strict.refusals) == ("succeeded", [])


@pytest.mark.parametrize(("kind", "reads"), [("runs", "agents"), ("tries", "messages")])
def test_after_the_claim_another_one_takes_it_up(stage: Stage, kind: str, reads: str) -> None:
    session = stage.session()
    path = stage.begin_unheard(kind, session)
    with brakes(stage.runtime.settings) as (brake,):
        brake.on_table(reads, READING)
        stage.tell(path)
        brake.wait()
        kill_worker_of(stage, path)

    assert stage.ended(path)["status"] == "succeeded"
    assert len(stage.strict.calls) == len(stage.calls(path)) == 1
    goes_on(stage, session)


def test_what_kills_each_of_its_workers_is_started_three_times(stage: Stage) -> None:
    """Meanwhile other work goes on."""
    session, other = stage.session(), stage.begin_unheard("tries", stage.session())
    path = stage.begin_unheard("runs", session)
    stage.tell(other)
    for _ in range(MAX_STARTS):
        with brakes(stage.runtime.settings) as (brake,):
            brake.on_table("agents", READING)
            stage.tell(path)
            brake.wait()
            kill_worker_of(stage, path)
        until(lambda: stage.swept(path, by=stage.deaf)["status"] != "running")
    assert stage.ended(other)["status"] == "succeeded"

    assert stage.get(path)["error"]["code"] == "worker_lost"
    assert len(stage.strict.calls) == 1  # of the other
    goes_on(stage, session)


@pytest.mark.parametrize("kind", BOTH)
def test_during_the_call_it_is_not_made_again(stage: Stage, kind: str) -> None:
    session = stage.session()
    stage.strict.fail(Silence())
    path = stage.begin(kind, session)
    stage.strict.wait_for_calls(1)
    kill_worker_of(stage, path)

    ended = stage.ended(path)

    assert (ended["status"], ended["error"]["code"]) == ("failed", "worker_lost")
    assert stage.calls(path) == [("unknown", None)]
    assert len(stage.strict.calls) == 1
    goes_on(stage, session)


@pytest.mark.parametrize("kind", BOTH)
def test_with_the_answer_in_hand_it_is_not_asked_for_again(stage: Stage, kind: str) -> None:
    """It is answered, and nothing of the answer is stored yet."""
    session = stage.session()
    before = stage.messages(session)
    with brakes(stage.runtime.settings) as (brake,):
        when_asked(stage, lambda: brake.on_table("usage_records", WRITING), text("Paid for."))
        path = stage.begin(kind, session)
        _wait_for_call(stage, brake)
        kill_worker_of(stage, path)

    ended = stage.ended(path)

    assert (ended["status"], ended["error"]["code"]) == ("failed", "worker_lost")
    assert stage.calls(path) == [("unknown", None)]
    assert len(stage.strict.calls) == 1
    assert stage.messages(session) == before + (kind == "runs")
    goes_on(stage, session)


def test_what_was_paid_is_on_record_for_a_try_that_was_given_up(stage: Stage) -> None:
    """Its worker was held up for so long that the sweep has settled it."""
    session = stage.session()
    path = stage.begin_unheard("tries", session)
    when_asked(stage, lambda: _give_up(stage, id_of(path)), text("Paid for."))
    stage.tell(path)

    assert stage.ended(path)["error"]["code"] == "worker_lost"
    until(lambda: [outcome for outcome, _ in stage.calls(path)] == ["succeeded"])
    ((_, tokens),) = stage.calls(path)
    assert tokens
    assert (stage.get(path)["status"], stage.get(path)["answer"]) == ("failed", None)
    goes_on(stage, session)


def _give_up(stage: Stage, try_id: str) -> None:
    def settled() -> bool:
        with database_of(stage.runtime.settings) as cursor:
            late = "lease_until = now() - interval '1 minute'"
            cursor.execute(f"UPDATE tries SET {late} WHERE id = %s", (try_id,))
            cursor.connection.commit()
        tries.sweep(stage.runtime)
        return stage.ask("SELECT status FROM tries WHERE id = %s", try_id) == [("failed",)]

    until(settled)


def test_during_a_tool_neither_call_nor_tool_is_repeated(stage: Stage) -> None:
    session = stage.session()
    with brakes(stage.runtime.settings) as (brake,):
        when_asked(
            stage,
            lambda: brake.on_table("session_files", WRITING),
            tool_use("write_file", path="/a", content="a"),
        )
        path = stage.begin("runs", session)
        _wait_for_call(stage, brake)
        kill_worker_of(stage, path)

    ended = stage.ended(path)

    assert (ended["status"], ended["error"]["code"]) == ("failed", "worker_lost")
    ((outcome, _),) = stage.calls(path)
    assert outcome == "succeeded"
    assert len(stage.strict.calls) == 1
    goes_on(stage, session)


def test_between_two_turns_it_goes_on_with_the_second(stage: Stage) -> None:
    session = stage.session()
    with brakes(stage.runtime.settings, 2) as (tool, second_call):
        when_asked(
            stage,
            lambda: tool.on_table("session_files", WRITING),
            tool_use("write_file", path="/a", content="a"),
        )
        path = stage.begin("runs", session)
        _wait_for_call(stage, tool)
        second_call.on_table("usage_records", WRITING)
        tool.release()
        until(lambda: stage.get(path)["turns"] == 1)
        second_call.wait()
        kill_worker_of(stage, path)

    ended = stage.ended(path)

    assert (ended["status"], ended["turns"]) == ("succeeded", 2)
    assert len(stage.strict.calls) == len(stage.calls(path)) == 2
    goes_on(stage, session)


def _wait_for_call(stage: Stage, brake: Brake) -> None:
    stage.strict.wait_for_calls(1)
    brake.wait()
