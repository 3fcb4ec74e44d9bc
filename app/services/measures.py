"""Figures for operators: the same ones, whichever process is asked."""

from __future__ import annotations

from app.domain.jobs import QUEUE_OF
from app.domain.measures import Measures
from app.errors import BrokerUnavailable
from app.queue import key_of
from app.runtime import Runtime, redis_fails
from app.telemetry import metrics, names


def read(runtime: Runtime) -> Measures:
    """What all processes together have to do, and have done.

    Raises:
        BrokerUnavailable, DatabaseUnavailable
    """
    with runtime.database.system() as system:
        stored = system.measures.stored()
    keys = {queue: key_of(job) for job, queue in QUEUE_OF.items()}
    try:
        waiting = {queue.value: int(runtime.redis.llen(key)) for queue, key in keys.items()}
    except (redis_fails(), OSError) as error:
        raise BrokerUnavailable("Try again in a moment.") from error
    return Measures(stored, waiting)


def report(runtime: Runtime) -> None:
    """Put on metrics what no single event tells."""
    with runtime.database.system() as system:
        overrides = system.measures.overrides()
    by_tenant = {str(tenant): number for tenant, number in overrides.items()}
    metrics.observe(names.OVERRIDES_ACTIVE, by_tenant, names.TENANT)
