"""What every job shares: its public name, its log context, and its process's runtime."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import structlog
from celery import Celery, Task

from app.domain.jobs import ACKNOWLEDGED_EARLY, Job
from app.errors import Failure
from app.queue import REQUEST_ID_HEADER, celery_client, span_attributes
from app.runtime import Runtime, build_runtime
from app.settings import Settings
from app.telemetry import logs, names, spans
from workers import deliveries

log = structlog.get_logger(__name__)

JobFunction = Callable[..., None]  # takes the runtime and at most one row id

# Seconds that a job waits for a connection while all are in use. Hundreds of jobs may begin at
# once; their claims stay good meanwhile.
POOL_WAIT = 60.0

JOBS: dict[Job, JobFunction] = {}


def job(name: Job) -> Callable[[JobFunction], JobFunction]:
    """Make a function the job of this name."""

    def register(function: JobFunction) -> JobFunction:
        JOBS[name] = function
        return function

    return register


def application(settings: Settings) -> Celery:
    """The Celery application with every job that was registered.

    The runtime is built by the first job of a process, so always after the fork: connections of
    the parent must not be shared.
    """
    celery = celery_client(settings)
    deliveries.guard(celery)
    runtime = _once(lambda: build_runtime(settings, "hango-worker", pool_wait=POOL_WAIT))
    for name, function in JOBS.items():
        options = {"acks_late": False} if name in ACKNOWLEDGED_EARLY else {}
        task = _as_task(name, function, runtime)
        celery.task(name=name, bind=True, shared=False, **options)(task)
    return celery


def _once(build: Callable[[], Runtime]) -> Callable[[], Runtime]:
    """Builds at the first call; also where many threads call first."""
    cached, lock = cache(build), threading.Lock()

    def built() -> Runtime:
        with lock:
            return cached()

    return built


def _as_task(
    name: Job, function: JobFunction, runtime: Callable[[], Runtime]
) -> Callable[..., None]:
    def task(self: Task, *args: Any) -> None:
        made = runtime()  # before the span: it is what turns telemetry on
        headers = self.request.headers or {}
        with (
            structlog.contextvars.bound_contextvars(
                job=self.name, job_id=self.request.id, request_id=headers.get(REQUEST_ID_HEADER)
            ),
            spans.begun(
                f"{names.PROCESS} {name}", "consumer", span_attributes(name), sender=headers
            ),
        ):
            run(function, made, *args)

    return task


def run(function: JobFunction, runtime: Runtime, *args: Any) -> None:
    """Do one job and log how it ended.

    Nothing is raised: what a job leaves undone is in its row, where the sweeps find it, and a
    traceback in Celery's log would show the values that the error speaks of.
    """
    started = time.perf_counter()
    try:
        function(runtime, *args)
    except Failure as failure:
        spans.current().failed(failure.code)
        log.warning("job_refused", code=failure.code, where=logs.where(failure))
    except Exception as error:  # noqa: BLE001 - the last door; see above
        spans.current().failed(type(error).__name__)
        log.error("job_failed", kind=type(error).__name__, where=logs.where(error))
    else:
        log.info("job_done", milliseconds=round((time.perf_counter() - started) * 1000, 1))
