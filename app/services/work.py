"""What services of runs and of tries share: accepting, cancelling, carrying out, sweeping."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Collection
from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID

import structlog

from app.domain.jobs import Job
from app.domain.work import CANCELLED, Claimed, Ending, Held, Status, Work
from app.engine.leases import Lease
from app.errors import (
    BrokerUnavailable,
    DatabaseUnavailable,
    Failure,
    NotFound,
    Unavailable,
    WorkLost,
)
from app.events import Events
from app.provider.failures import Cancelled, DeadlinePassed, ProviderFailure
from app.queue import key_of
from app.runtime import Runtime, redis_fails
from app.store.transaction import SystemTransaction, Transaction
from app.store.work import AllWork
from app.telemetry import logs, metrics, names, spans

T = TypeVar("T")

log = structlog.get_logger(__name__)

CANCEL_IS_ASKED_EVERY = 0.5  # seconds
WRITE_AGAIN_AFTER = 0.5
NUDGE_AFTER = timedelta(seconds=5)
SWEEP_BATCH = 100

# What makes a worker leave its work as it stands: the sweep or another worker has settled it, its
# session was deleted, or the database is away. In that case the sweep settles it: it is queued
# again where no call was under way.
LEFT = (WorkLost, NotFound, DatabaseUnavailable)

_COUNTERS = {Job.EXECUTE_RUN: names.RUNS, Job.EXECUTE_TRY: names.TRIES}


def check_broker(runtime: Runtime) -> None:
    """Go on only when Redis answers, so that nothing is stored that nobody would start.

    When it goes away right after, the work is stored all the same, and started by the sweep.

    Raises:
        BrokerUnavailable: nothing was stored; try again later.
    """
    try:
        runtime.redis.ping()
    except (redis_fails(), OSError) as error:
        raise BrokerUnavailable("Try again in a moment.") from error


def tell_cancelled(runtime: Runtime, work: Work) -> None:
    """Let the worker, or those who wait, know of a cancellation that is stored."""
    if work.status is Status.RUNNING:
        runtime.events.ask_to_cancel(work.id)
    elif work.status is Status.CANCELLED:
        runtime.events.ended(work.id, Status.CANCELLED)


def tell_ended(runtime: Runtime, counter: str, work_id: UUID, ending: Ending) -> None:
    """Let those who wait know of an ending that is stored; the span and the counter of its kind."""
    runtime.events.ended(work_id, ending.status)
    metrics.count(counter, {names.OUTCOME: ending.status})
    span = spans.current()
    span.set({names.OUTCOME: ending.status})
    if ending.error_code is not None:
        span.failed(ending.error_code)


def ended(runtime: Runtime, ids: Collection[UUID]) -> set[UUID]:
    """Those of these runs and tries that have ended, or are gone.

    Raises:
        DatabaseUnavailable: it is not known.
    """
    with runtime.database.system() as system:
        return system.runs.not_open_among(system.tries.not_open_among(ids))


def worker_name() -> str:
    """This process, for people who look at rows."""
    return f"{socket.gethostname()}:{os.getpid()}"


class Watch:
    """Whether a worker has to stop."""

    def __init__(
        self, events: Events, held: Held, lease: Lease, above: Watch | None = None
    ) -> None:
        """`above`: of the run that this one is a part of, and ends with."""
        self._above = above
        self._events = events
        self._held = held
        self._lease = lease
        self._asked_at = 0.0

    @property
    def is_lost(self) -> bool:
        """Whether the claim is somebody else's by now."""
        return self._lease.lost

    def is_cancelled(self) -> bool:
        """Asked again and again, so Redis is asked only now and then."""
        lease = self._lease
        now = time.monotonic()
        if not lease.cancelled and now - self._asked_at >= CANCEL_IS_ASKED_EVERY:
            self._asked_at = now
            lease.cancelled = self._events.is_asked_to_cancel(self._held.id)
        if lease.cancelled or lease.lost:
            return True
        return self._above is not None and self._above.is_cancelled()


class Writing:
    """Writes what was paid for, in the name of whom the work is done."""

    def __init__(self, runtime: Runtime, claimed: Claimed[Any], watch: Watch) -> None:
        self._runtime = runtime
        self._principal = claimed.principal
        self._watch = watch

    def surely(self, write: Callable[[Transaction], T]) -> T:
        """Write also when the database is away for a while.

        Raises:
            DatabaseUnavailable: it is away for longer than the claim is good. The sweep settles
                the work.
        """
        give_up = time.monotonic() + self._runtime.settings.run_lease.total_seconds()
        while True:
            try:
                with self._runtime.database.transaction(self._principal) as tx:
                    return write(tx)
            except DatabaseUnavailable:
                if self._watch.is_lost or time.monotonic() >= give_up:
                    raise
                time.sleep(WRITE_AGAIN_AFTER)


def ending_of(error: Exception) -> Ending:
    """How work ends that met this. A fault of hango's own is logged, without what it says."""
    if isinstance(error, Cancelled):
        return CANCELLED
    if isinstance(error, ProviderFailure):
        status = Status.TIMED_OUT if isinstance(error, DeadlinePassed) else Status.FAILED
        return Ending(status, None, error.code, error.detail or error.title, error.transient)
    if isinstance(error, Failure):
        log.warning("work_failed", code=error.code, where=logs.where(error))
        detail = error.detail or error.title
        return Ending(Status.FAILED, None, error.code, detail, isinstance(error, Unavailable))
    log.error("work_failed", kind=type(error).__name__, where=logs.where(error))
    return Ending(Status.FAILED, None, "internal", "hango has a fault here.", False)


def sweep(runtime: Runtime, job: Job, of: Callable[[SystemTransaction], AllWork[Any]]) -> None:
    """Settle what dead workers have left, and nudge what no worker has been told of.

    Where each row that is queued has its job in the queue, workers are behind, and more jobs would
    not help them. Where there are fewer jobs than rows, some were lost: of the oldest rows, most
    likely. Who is told twice by this loses nothing but a look at its row.
    """
    jobs = _jobs_waiting(runtime, job)
    with runtime.database.system() as system:
        again = of(system).requeue_lost(SWEEP_BATCH)
        failed = of(system).fail_lost(SWEEP_BATCH)
        if jobs is not None and jobs < of(system).number_queued():
            for work_id in {*again, *of(system).waiting(NUDGE_AFTER, SWEEP_BATCH)}:
                system.enqueue(job, str(work_id))
    runtime.events.swept()
    for work_id in failed:
        runtime.events.ended(work_id, Status.FAILED)
        metrics.count(_COUNTERS[job], {names.OUTCOME: Status.FAILED})
    if again or failed:
        log.warning("workers_lost", job=job, requeued=len(again), failed=len(failed))


def _jobs_waiting(runtime: Runtime, job: Job) -> int | None:
    """How many jobs of this kind no worker has taken yet; None while Redis is away."""
    try:
        return int(runtime.redis.llen(key_of(job)))
    except (redis_fails(), OSError) as error:
        log.warning("queue_not_known", kind=type(error).__name__)
        return None
