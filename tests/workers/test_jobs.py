"""Jobs: named, queued, delivered by a real broker, and safe to lose or to get twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import kombu
import pytest

from app.domain.jobs import QUEUE_OF, Job, QueueName
from app.errors import BrokerUnavailable
from app.queue import Queue, broker_url, celery_client
from app.runtime import Runtime, build_runtime
from app.settings import Secret, Settings
from app.telemetry import logs
from tests.entries import CANARY, strange_entries
from workers import ablations as _ablations  # noqa: F401 (registers its jobs)
from workers import base, messages, schedule
from workers import runs as _runs  # noqa: F401 (registers its jobs)
from workers import tries as _tries  # noqa: F401 (registers its jobs)
from workers import upkeep as _upkeep  # noqa: F401 (registers its jobs)

AWAY = Secret("redis://127.0.0.1:9/0")


@pytest.fixture
def runtime(settings: Settings, clean_redis: None) -> Iterator[Runtime]:
    made = build_runtime(settings)
    yield made
    made.database.dispose()
    made.redis.close()
    made.queue.close()


def test_every_job_is_registered_and_has_a_queue() -> None:
    assert base.JOBS.keys() == set(Job) == QUEUE_OF.keys()


def test_every_scheduled_job_exists() -> None:
    for entry in schedule.TABLE.values():
        assert entry["task"] in set(Job)


def test_queues_are_exactly_those_that_are_named(settings: Settings) -> None:
    assert {queue.name for queue in celery_client(settings).conf.task_queues} == set(QueueName)


@pytest.mark.parametrize(
    ("url", "expected"),
    [("unix:///run/v.sock", "redis+socket:///run/v.sock"), ("redis://h:1/2", "redis://h:1/2"),
     ("unix:///a/b.sock?db=3", "redis+socket:///a/b.sock?virtual_host=3"),
     ("rediss://h", "rediss://h")],
)  # fmt: skip
def test_a_socket_is_spelled_as_the_broker_wants_it(url: str, expected: str) -> None:
    assert broker_url(url) == expected


def test_a_message_carries_an_id_and_no_content(runtime: Runtime) -> None:
    agent = str(uuid4())

    runtime.queue.send(Job.RECOUNT_MESSAGES, agent)

    (raw,) = runtime.redis.lrange("hango:upkeep", 0, -1)
    message = json.loads(raw)
    assert message["headers"]["task"] == "hango.messages.recount"
    assert message["headers"]["argsrepr"] == f"['{agent}']"


def test_a_job_waits_in_its_own_queue_and_in_no_other(runtime: Runtime) -> None:
    queues = celery_client(runtime.settings)
    with queues.connection_for_write() as connection:
        for queue in queues.conf.task_queues:  # as a worker does when it starts
            queue(connection.default_channel).declare()
    for job in Job:
        runtime.redis.delete(*[f"hango:{name}" for name in QueueName])
        runtime.queue.send(job)
        waiting = {name.value: runtime.redis.llen(f"hango:{name}") for name in QueueName}
        assert waiting == {name.value: int(name is QUEUE_OF[job]) for name in QueueName}


def test_what_is_paid_for_is_acknowledged_before_it_begins(settings: Settings) -> None:
    """D30: a broker that hands out again what takes long hands out no run and no try."""
    tasks = base.application(settings).tasks

    assert {name for name in Job if not tasks[name].acks_late} == {
        Job.EXECUTE_RUN,
        Job.EXECUTE_TRY,
    }


def test_sending_fails_soon_when_the_broker_is_away(settings: Settings) -> None:
    queue = Queue(replace(settings, redis_url=AWAY))

    with pytest.raises(BrokerUnavailable):
        queue.send(Job.PURGE_IDEMPOTENCY)


def test_a_broken_job_says_where_and_not_what(
    runtime: Runtime, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure("INFO")

    def broken(_: Runtime) -> None:
        raise ValueError("canary-4711")

    base.run(broken, runtime)

    logged = capsys.readouterr().out
    assert '"job_failed"' in logged
    assert "ValueError" in logged
    assert "canary" not in logged


def test_a_worker_takes_jobs_and_refuses_the_rest_without_telling_its_content(
    runtime: Runtime, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure("INFO")
    strange = list(strange_entries(QueueName.RUNS))
    for entry in strange:
        runtime.redis.lpush(f"hango:{QueueName.RUNS}", entry)
    runtime.queue.send(Job.EXECUTE_RUN, "the-row")

    (taken,) = _taken(runtime, QueueName.RUNS)

    assert taken[0] == ["the-row"]
    logged = capsys.readouterr().out
    assert logged.count('"message_refused"') == len(strange)
    assert CANARY not in logged


def _taken(runtime: Runtime, queue: QueueName) -> list[Any]:
    """The bodies of what a worker would take from this queue, until it is empty."""
    taken: list[Any] = []
    celery = base.application(runtime.settings)
    with celery.connection_for_read() as connection:
        consumer = kombu.Consumer(  # type: ignore[no-untyped-call]
            connection.default_channel, [kombu.Queue(queue)], accept=["json"]
        )
        consumer.register_callback(lambda body, message: (taken.append(body), message.ack()))
        with consumer:
            while not taken:
                connection.drain_events(timeout=20)
    return taken


def test_a_job_for_what_is_gone_does_nothing(runtime: Runtime, clean_database: None) -> None:
    messages.recount(runtime, str(uuid4()))
