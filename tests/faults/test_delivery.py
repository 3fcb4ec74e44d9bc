"""Jobs that come twice, late, or make no sense: by a broker that does what brokers do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.domain.jobs import Job, QueueName
from tests.entries import job_message, strange_entries
from tests.factories import until
from tests.fakes.strict_provider import Reply, text
from tests.faults.conftest import BOTH, FINAL, Stage

pytestmark = pytest.mark.processes

NOBODY_S = "01994c1e-0000-7000-8000-000000000001"
QUEUES = {"runs": QueueName.RUNS, "tries": QueueName.CALLS}


@pytest.mark.parametrize("kind", BOTH)
def test_a_job_that_comes_again_is_done_once(stage: Stage, kind: str) -> None:
    """D30: at once, while the call is being answered, and after the end."""
    session = stage.session()
    before = stage.messages(session)
    stage.strict.answer_by(lambda _body: Reply(blocks=[text("Here.")], delay=0.5))
    path = stage.begin(kind, session)
    stage.tell(path)
    stage.strict.wait_for_calls(1)
    stage.tell(path)
    ended = stage.ended(path)
    stage.tell(path)
    _wait_until_all_are_taken(stage, kind)

    assert stage.get(path) == ended
    assert [outcome for outcome, _ in stage.calls(path)] == ["succeeded"]
    assert len(stage.strict.calls) == 2  # one of them is the other's
    assert stage.messages(session) == before + (2 if kind == "runs" else 0)


@pytest.mark.parametrize("kind", BOTH)
def test_a_job_that_comes_after_a_cancellation_does_nothing(stage: Stage, kind: str) -> None:
    path = stage.begin_unheard(kind, stage.session())
    stage.alice.delete(path)
    stage.tell(path)
    _wait_until_all_are_taken(stage, kind)

    assert stage.get(path)["status"] == "cancelled"
    assert len(stage.strict.calls) == 1  # of the other


@pytest.mark.parametrize(
    "poison",
    [
        {"args": [NOBODY_S]},
        {"args": ["no id at all"]},
        {"args": [{"an": "object"}]},
        {"args": [None]},
        {"args": []},
        {"args": ["one", "two", "three"]},
        {"args": [], "kwargs": {"unknown": 1}},
        {"task": "hango.no.such.job"},
        {"type": "application/x-python-serialize"},
    ],
    ids=str,
)
def test_a_job_that_makes_no_sense_stops_nothing(stage: Stage, poison: dict[str, Any]) -> None:
    """D32 and its kind: as many as there are processes, and the next job is done."""
    for _ in range(8):
        _put(stage, QueueName.RUNS, **poison)

    path = stage.begin("runs", stage.session())

    assert stage.ended(path)["status"] == "succeeded"
    assert len(stage.strict.calls) == 1


def test_what_is_no_message_at_all_stops_nothing(stage: Stage) -> None:
    """Neither by its bytes nor by its shape; nothing of it is kept to come again."""
    for entry in strange_entries(QueueName.RUNS):
        stage.runtime.redis.lpush(f"hango:{QueueName.RUNS}", entry)

    path = stage.begin("runs", stage.session())

    assert stage.ended(path)["status"] == "succeeded"
    assert not stage.runtime.redis.hlen("hango:unacked")


def _put(
    stage: Stage,
    queue: str,
    *,
    task: str = Job.EXECUTE_RUN,
    args: Any = (),
    kwargs: Any = None,
    type: str = "application/json",  # noqa: A002 (its name in a message)
) -> None:
    """Put a message into a queue without Celery's help."""
    message = job_message(queue, task, [args, kwargs or {}, {}])
    message["content-type"] = type
    stage.runtime.redis.lpush(f"hango:{queue}", json.dumps(message))


def _wait_until_all_are_taken(stage: Stage, kind: str) -> None:
    """The jobs before this one have been taken from the queue, and one behind them is done."""
    until(lambda: not stage.runtime.redis.llen(f"hango:{QUEUES[kind]}"))
    last = stage.begin(kind, stage.session())
    until(lambda: stage.get(last)["status"] in FINAL)
