"""Clients that wait for tries, a thousand at one web process, and everybody else (P18 to P22)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit
from uuid import UUID

import psycopg2

from app.events import ENDED
from app.runtime import Runtime, build_runtime
from app.services import tries
from app.services.try_plans import Wanted
from app.settings import Secret, Settings
from bench.measure import Finding, Spread, cpu_seconds, spread
from bench.servers import Ground
from bench.waiters import Waiters
from cli.operate.embedded.ownership import OwnedProcess

HELD = 1_000
BURST = 800
CROWD = 200  # places of the server that twice as many want
PARTS = 1_000  # of the session that is inspected meanwhile
_PINGS = 700
_PAUSE = 0.002  # seconds
_RESTING = 0.05  # seconds of CPU in half a second
_ROUNDS = 3
_ALONE = 30  # wake-ups, one after the other

Ask = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Served:
    """One web process, and what is asked of it."""

    ground: Ground
    runtime: Runtime
    url: str
    process: OwnedProcess

    @contextmanager
    def asking(self, path: str) -> Iterator[Ask]:
        """A client that keeps its connection."""
        with closing(HTTPConnection(urlsplit(self.url).netloc, timeout=60)) as connection:

            def ask() -> None:
                connection.request("GET", path, headers={"Authorization": f"Bearer {key}"})
                reply = connection.getresponse()
                reply.read()
                assert reply.status == 200, reply.status

            key = self.ground.key
            yield ask

    def begun(self, number: int) -> list[UUID]:
        """So many new tries, which no worker is told of."""
        session = self.ground.session(10)
        with self.ground.database.transaction(self.ground.principal) as tx:
            wanted = Wanted(replace={})
            return [tries.begin(self.runtime, tx, session, wanted).id for _ in range(number)]

    def end(self, ids: Sequence[UUID]) -> float:
        """Let all of them have ended; when that was told."""
        values = "status = 'cancelled', finished_at = clock_timestamp(), loaded = NULL"
        with (
            closing(psycopg2.connect(self.ground.services.admin_database_url)) as connection,
            connection.cursor() as cursor,
        ):
            names = [str(each) for each in ids]
            cursor.execute(f"UPDATE tries SET {values} WHERE id::text = ANY(%s)", [names])
            connection.commit()
        told = time.perf_counter()
        with self.runtime.redis.pipeline(transaction=False) as pipeline:
            for name in names:
                pipeline.publish(ENDED, name)
            pipeline.execute()
        return told

    def rest(self) -> None:
        """Wait until all that was asked for is under way, and the process does next to nothing."""
        used = -1.0
        while (now := cpu_seconds(self._pid)) - used > _RESTING:
            used = now
            time.sleep(0.5)

    @property
    def _pid(self) -> int:
        """Of the process that serves."""
        pid = self.process.pid
        (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return int(child)

    @property
    def memory(self) -> int:
        """Resident bytes of the process that serves."""
        for line in Path(f"/proc/{self._pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) * 1024
        raise RuntimeError("Linux alone tells.")

    @property
    def connections(self) -> int:
        """Of everybody to Redis, but for this process's own."""
        return len(self.runtime.redis.client_list()) - 1


@contextmanager
def served(ground: Ground, **settings: str) -> Iterator[Served]:
    """One process with the published configuration."""
    url, process = ground.web(processes=1, **settings)
    services = ground.services
    runtime = build_runtime(
        Settings(database_url=Secret(services.database_url), redis_url=Secret(services.redis_url))
    )
    try:
        yield Served(ground, runtime, url, process)
    finally:
        runtime.database.dispose()
        runtime.redis.close()
        process.stop(30)


@contextmanager
def waiting(server: Served, ids: Sequence[UUID]) -> Iterator[Waiters]:
    """A client for each try, all of them parked."""
    with closing(Waiters(server.url, server.ground.key)) as waiters:
        waiters.begin(f"/v1/tries/{each}?wait=60" for each in ids)
        server.rest()
        yield waiters


def held(ground: Ground) -> Iterator[Finding]:
    """P19, P20: a thousand waits in one process."""
    inspected = f"/v1/sessions/{ground.session(PARTS)}/context"
    with served(ground) as server:
        pings, inspects = [], []
        for _ in range(_ROUNDS):
            ids = server.begun(HELD)
            idle = _latencies(server, "/healthz"), _latencies(server, inspected)
            before = server.memory
            with waiting(server, ids) as waiters:
                busy = _latencies(server, "/healthz"), _latencies(server, inspected)
                grown, connections = server.memory - before, server.connections
                parked = HELD - len(waiters.answered)
                told = server.end(ids)
                assert waiters.wait(HELD, 60), "not all were answered"
                seconds = sorted(waiters.answered.values())[BURST - 1] - told
            pings.append(_p99(busy[0]) / _p99(idle[0]))
            inspects.append(_p99(busy[1]) / _p99(idle[1]))
        note = f"{parked} of them to the end"
        yield Finding("P19", f"inspect p99 beside {HELD} waits / idle", 1.3, spread(inspects), note)
        yield Finding("P19", "ping p99 beside them / idle", 1.5, spread(pings), note)
        yield Finding("P20", "connections to Redis meanwhile", 50, _alone(connections))
        yield Finding("P20", "their memory, in MB", 60, _alone(grown / 2**20))
        yield Finding(
            "P20", f"{BURST} results at once: seconds until all have it", 0.6, _alone(seconds)
        )


def woken(ground: Ground) -> Iterator[Finding]:
    """P18: from a result that is told to the client that waits for it, over an idle ping."""
    with served(ground) as server:
        ids = server.begun(_ALONE)
        ping = median(_latencies(server, "/healthz"))
        seconds = []
        for each in ids:
            with closing(Waiters(server.url, ground.key)) as waiters:
                waiters.begin([f"/v1/tries/{each}?wait=60"])
                time.sleep(0.1)
                told = server.end([each])
                assert waiters.wait(1, 30)
                seconds.append(waiters.answered[0] - told)
        yield Finding("P18", "result told to client answered / ping", 6, _over(seconds, ping))


def crowded(ground: Ground) -> Iterator[Finding]:
    """P21, and D43: twice as many waits as there is room for."""
    with served(ground, HANGO_MAX_WAITS=str(CROWD)) as server:
        ratios = []
        for _ in range(_ROUNDS):
            ids = server.begun(2 * CROWD)
            idle = _p99(_latencies(server, "/healthz"))
            with waiting(server, ids) as waiters:
                assert waiters.wait(CROWD, 30)
                assert all(b"Retry-After: 1" in head for head in waiters.heads.values())
                ratios.append(_p99(_latencies(server, "/healthz")) / idle)
                server.end(ids)
                assert waiters.wait(2 * CROWD, 60)
        yield Finding(
            "P21", "ping p99 with twice the waits there is room for / idle", 2, spread(ratios)
        )


def beside_cold(ground: Ground) -> Iterator[Finding]:
    """P22: the slowest ping while 10,000 messages are counted, over one such inspect."""
    cold = f"/v1/sessions/{ground.session(10_000, cold=True)}/context"
    with served(ground) as server:
        ratios = []
        for _ in range(_ROUNDS):
            with closing(Waiters(server.url, ground.key)) as waiters:
                begun = time.perf_counter()
                waiters.begin([cold])
                slowest = 0.0
                with server.asking("/healthz") as ask:
                    while not waiters.answered:
                        slowest = max(slowest, _seconds(ask))
                        time.sleep(_PAUSE)
                ratios.append(slowest / (waiters.answered[0] - begun))
        yield Finding(
            "P22", "slowest ping beside a cold inspect / that inspect", 0.1, spread(ratios)
        )


def _latencies(server: Served, path: str, number: int = _PINGS) -> list[float]:
    with server.asking(path) as ask:
        ask()
        found = []
        for _ in range(number):
            found.append(_seconds(ask))
            time.sleep(_PAUSE)
    return found


def _seconds(ask: Ask) -> float:
    begun = time.perf_counter()
    ask()
    return time.perf_counter() - begun


def _p99(seconds: Sequence[float]) -> float:
    return sorted(seconds)[int(len(seconds) * 0.99)]


def _over(seconds: Sequence[float], yardstick: float) -> Spread:
    return spread(each / yardstick for each in seconds)


def _alone(value: float) -> Spread:
    return spread([value])


GOALS: Mapping[str, Callable[[Ground], Iterator[Finding]]] = {
    "P18": woken,
    "P19": held,
    "P20": held,
    "P21": crowded,
    "P22": beside_cold,
}
