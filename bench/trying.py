"""Tries: what waiting for one adds to its call, and hundreds of slow ones at one worker.

P15, P16, P23 to P25, and 200 slow runs at a worker as it is shipped.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import celery
import psycopg2

from app.domain.jobs import Job
from app.queue import broker_url
from app.runtime import Runtime
from app.services import runs, tries
from app.services.try_plans import Wanted
from bench import bare
from bench.calling import connections, running
from bench.measure import Finding, cpu_seconds, seconds, spread
from bench.servers import Ground

SHIPPED = 200  # threads of a worker as `hango up` starts it
_DELAY = 0.05  # seconds that the provider takes
_SLOW = 10.0
_FLIGHT, _LESS = 500, 50  # calls at a time
_ROUNDS = 40
_JOB_OF = {"runs": Job.EXECUTE_RUN, "tries": Job.EXECUTE_TRY}
_LONGEST = 120.0


def waited_for(ground: Ground) -> Iterator[Finding]:
    """P15, P16: POST and long wait, beside a bare Celery task that makes the same call."""
    provider = ground.stub(_DELAY)
    ground.worker(provider, threads=SHIPPED)
    path = f"/v1/sessions/{ground.session(100)}/context/try?wait=30"
    made = bare.client(provider)
    with (
        closing(HTTPConnection(urlsplit(ground.url).netloc, timeout=60)) as connection,
        bare_worker(ground) as celery_client,
    ):
        task = celery_client.signature("call")
        headers = {"Authorization": f"Bearer {ground.key}", "Content-Type": "application/json"}

        def ours() -> None:
            connection.request("POST", path, b"{}", headers)
            reply = connection.getresponse()
            shown = json.loads(reply.read())
            assert (reply.status, shown["status"]) == (200, "succeeded"), shown

        calls = (ours, lambda: task.delay(provider).get(timeout=60), lambda: bare.ask(made))
        for each in calls:
            each()
        found = [[seconds(each) for each in calls] for _ in range(_ROUNDS)]
    over = [(tried - direct) / (plain - direct) for tried, plain, direct in found]
    yield Finding("P15", "what a try adds to its call / what a bare task adds", 2, spread(over))
    added = sorted((tried - direct) * 1000 for tried, _, direct in found)
    yield Finding("P16", "what a try adds to its call, in ms", 12, spread(added))
    last = added[int(len(added) * 0.99)]
    yield Finding("P16", "the same, 99th percentile", 30, spread([last]))


def in_flight(ground: Ground) -> Iterator[Finding]:
    """P23, P24: ten-second calls, 50 a second, at one worker process."""
    few = _slow_tries(ground, _LESS, per_second=_LESS / _SLOW)
    many = _slow_tries(ground, _FLIGHT, per_second=_FLIGHT / _SLOW)
    ratio = many.overheads[len(many.overheads) // 2] / few.overheads[len(few.overheads) // 2]
    what = f"overhead of tries with {_FLIGHT} in flight / with {_LESS}"
    yield Finding("P23", what, 1.5, spread([ratio]))
    last = many.overheads[int(len(many.overheads) * 0.99)] * 1000
    yield Finding("P24", f"overhead with {_FLIGHT}, 99th percentile, in ms", 200, spread([last]))
    yield Finding("P24", "the worker's use of a core, in per cent", 30, spread([many.cpu]))
    yield Finding("P24", "its memory, in MB", 350, spread([many.memory]))


def burst(ground: Ground) -> Iterator[Finding]:
    """P25: all of them at once."""
    done = _slow_tries(ground, _FLIGHT)
    what = f"{_FLIGHT} ten-second tries at once / publishing + 10 s"
    yield Finding("P25", what, 1.15, spread([done.wall / (done.publishing + _SLOW)]))


def slow_runs(ground: Ground) -> Iterator[Finding]:
    """200 runs at once at a worker as it is shipped."""
    provider = ground.stub(_SLOW)
    with _worker(ground, provider, SHIPPED) as pid, running(ground, provider) as runtime:
        sessions = [ground.empty_session().id for _ in range(SHIPPED)]
        done = _done(ground, runtime, pid, "runs", SHIPPED, lambda number: sessions[number])
    note = (
        f"{done.memory:.0f} MB, {done.threads} threads, {connections(provider) - 1} connections"
        " to the provider"
    )
    what = f"{SHIPPED} ten-second runs at once / publishing + 10 s"
    yield Finding("slow", what, None, spread([done.wall / (done.publishing + _SLOW)]), note)


@dataclass(frozen=True, slots=True)
class Done:
    """How a number of slow calls went. Seconds, but for `memory` (MB) and `cpu` (% of a core)."""

    publishing: float
    wall: float
    overheads: list[float]  # sorted; see `_overheads`
    cpu: float
    memory: float
    threads: int


def _slow_tries(ground: Ground, number: int, per_second: float | None = None) -> Done:
    provider = ground.stub(_SLOW)
    session = ground.session(100)
    with (
        _worker(ground, provider, _FLIGHT + 50) as pid,
        running(ground, provider) as runtime,
    ):
        return _done(ground, runtime, pid, "tries", number, lambda _: session, per_second)


def _done(
    ground: Ground,
    runtime: Runtime,
    pid: int,
    kind: str,
    number: int,
    session_of: Callable[[int], Any],
    per_second: float | None = None,
) -> Done:
    ids = [_accepted(ground, runtime, kind, session_of(each)) for each in range(number)]
    began, used = time.perf_counter(), cpu_seconds(pid)
    sent, memory, threads = {}, 0.0, 0
    for each in ids:
        runtime.queue.send(_JOB_OF[kind], each)
        sent[each] = time.time()
        if per_second:
            time.sleep(max(0.0, began + len(sent) / per_second - time.perf_counter()))
    publishing = time.perf_counter() - began
    overheads: list[float] = []
    while len(overheads) < number:
        assert time.perf_counter() - began < _LONGEST, f"{len(overheads)} of {number} have ended"
        memory, threads = (
            max(memory, _status(pid, "VmRSS") / 1024),
            max(threads, _status(pid, "Threads")),
        )
        time.sleep(0.1)
        overheads = _overheads(ground, kind, sent)
    wall = time.perf_counter() - began
    cpu = 100 * (cpu_seconds(pid) - used) / wall
    return Done(publishing, wall, overheads, cpu, memory, threads)


def _accepted(ground: Ground, runtime: Runtime, kind: str, session: Any) -> str:
    """Something that is queued, and that no worker is told of."""
    with ground.database.transaction(ground.principal) as tx:
        if kind == "runs":
            return str(runs.begin(tx, session, "Hello?", None, now=runtime.now()).id)
        return str(tries.begin(runtime, tx, session, Wanted(replace={})).id)


def _overheads(ground: Ground, kind: str, sent: Mapping[str, float]) -> list[float]:
    """From its job's sending to its end, less what the provider took: of all that have ended."""
    sql = (
        "SELECT id::text, extract(epoch FROM finished_at)::float8, status"
        f" FROM {kind} WHERE id::text = ANY(%s) AND finished_at IS NOT NULL"
    )
    with (
        closing(psycopg2.connect(ground.services.admin_database_url)) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(sql, [list(sent)])
        rows = cursor.fetchall()
    assert {status for _, _, status in rows} <= {"succeeded"}
    return sorted(ended - sent[work_id] - _SLOW for work_id, ended, _ in rows)


@contextmanager
def _worker(ground: Ground, provider: str, threads: int) -> Iterator[int]:
    """The process id of a worker that has made its first call."""
    process = ground.worker(provider, threads=threads)
    try:
        with running(ground, provider) as runtime:
            first = _accepted(ground, runtime, "tries", ground.session(100))
            runtime.queue.send(Job.EXECUTE_TRY, first)
            until = time.perf_counter() + _LONGEST
            while not _overheads(ground, "tries", {first: 0.0}):
                assert time.perf_counter() < until, process.last_words()
                time.sleep(0.1)
        yield process.pid
    finally:
        process.stop(30)


@contextmanager
def bare_worker(ground: Ground) -> Iterator[Any]:
    """A Celery worker beside ours, with results: the client of it."""
    url = broker_url(ground.services.redis_url)
    url = f"{url}?virtual_host=9"
    arguments = ["--broker", url, "--result-backend", url, "worker", "--pool", "threads"]
    command = [sys.executable, "-m", "celery", "--app", "bench.bare", *arguments]
    more = ["--concurrency", "50", "--without-gossip", "--without-mingle", "--loglevel", "ERROR"]
    with (ground.folder / "bare.log").open("wb") as log:
        process = subprocess.Popen([*command, *more], stdout=log, stderr=log)
    client = celery.Celery("bare", broker=url, backend=url, set_as_current=False)
    try:
        yield client
    finally:
        process.kill()
        process.wait()
        client.close()


def _status(pid: int, name: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    raise RuntimeError("Linux alone tells.")


GOALS: Mapping[str, Callable[[Ground], Iterator[Finding]]] = {
    "P15": waited_for,
    "P16": waited_for,
    "P23": in_flight,
    "P24": in_flight,
    "P25": burst,
    "slow": slow_runs,
}
