"""The programs of hango itself: web, worker, beat."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from signal import Signals

from app.domain.jobs import QueueName
from cli.operate.embedded.ownership import Program

_CODE = Path(__file__).resolve().parents[2]
_WORKER_THREADS = 200  # of each: so many calls wait for a model at a time
_DRAIN_SECONDS = 8  # what a request that is running is given when hango stops


@dataclass(frozen=True, slots=True)
class Services:
    """The servers that hango's programs use."""

    database_url: str
    admin_database_url: str
    redis_url: str
    secret_key: str = ""  # empty: the environment has one


def web(data: Path, services: Services, listening: int) -> Program:
    """gunicorn on a socket that listens already, given by its descriptor."""
    return Program(
        name="web",
        command=[
            *(sys.executable, "-m", "gunicorn", "--config", "python:app.server"),
            *("--bind", f"fd://{listening}", "--log-level", "warning"),
            *("--graceful-timeout", str(_DRAIN_SECONDS), "app.web:from_environment()"),
        ],
        log=data / "logs" / "web.log",
        stop_with=Signals.SIGTERM,
        orphaned_with=Signals.SIGQUIT,  # at once: the database is going, too
        environment=_environment(services),
        folder=data,
        inherits=[listening],
    )


def workers(data: Path, services: Services) -> Iterator[Program]:
    """Celery, with threads: jobs wait for answers rather than compute.

    Runs may take long, so tries and sweeps have a process that no run can fill.
    """
    yield _worker(data, services, "runs", QueueName.RUNS)
    yield _worker(data, services, "worker", QueueName.CALLS, QueueName.UPKEEP)


def _worker(data: Path, services: Services, name: str, *queues: QueueName) -> Program:
    return Program(
        name=name,
        command=[
            *(*_CELERY, "worker", "--queues", ",".join(queues)),
            *("--hostname", f"{name}@%h", "--pool", "threads"),
            *("--concurrency", str(_WORKER_THREADS), "--loglevel", "WARNING"),
            *("--without-gossip", "--without-mingle"),
        ],
        log=data / "logs" / f"{name}.log",
        stop_with=Signals.SIGTERM,
        # It would wait for a broker that is going, too. Jobs are safe to break off at any moment.
        orphaned_with=Signals.SIGKILL,
        environment=_environment(services),
        folder=data,
    )


def beat(data: Path, services: Services) -> Program:
    """The clock of the periodic jobs."""
    return Program(
        name="beat",
        command=[
            *(*_CELERY, "beat", "--loglevel", "WARNING", "--pidfile", ""),
            *("--schedule", data / "beat-schedule"),
        ],
        log=data / "logs" / "beat.log",
        stop_with=Signals.SIGTERM,
        orphaned_with=Signals.SIGKILL,
        environment=_environment(services),
        folder=data,
    )


_CELERY = (sys.executable, "-m", "celery", "--app", "workers.app")


def _environment(services: Services) -> Mapping[str, str]:
    """Ours, with the servers' addresses; none of the programs is told the owner's password."""
    given = dict(os.environ)  # noqa: TID251 (handed on, not read)
    given.pop("HANGO_ADMIN_DATABASE_URL", None)
    given["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_CODE), given.get("PYTHONPATH")]))
    given["HANGO_DATABASE_URL"] = services.database_url
    if services.secret_key:
        given["HANGO_SECRET_KEY"] = services.secret_key
    given["HANGO_REDIS_URL"] = services.redis_url
    return given
