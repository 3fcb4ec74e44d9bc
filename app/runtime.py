"""What a process is made of. The only place that picks implementations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

import structlog

from app.domain.ids import now
from app.domain.jobs import Job
from app.engine.leases import Leases
from app.errors import BrokerUnavailable
from app.events import Events
from app.provider.base import Provider
from app.provider.choice import provider_for
from app.queue import Queue
from app.settings import Settings
from app.store.engine import POOL_WAIT_SECONDS
from app.store.transaction import Database
from app.telemetry import setup as telemetry
from app.tools.addresses import Reach
from app.tools.client import OutsideClient

if TYPE_CHECKING:
    from redis import Redis

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """The parts of a process. Made once, after a fork, and handed to everything that runs."""

    settings: Settings
    database: Database
    redis: Redis
    followed: Redis  # for who follows a run: a connection each, most of the time
    queue: Queue
    events: Events
    provider: Provider
    leases: Leases
    outside: OutsideClient
    now: Callable[[], datetime]


def build_runtime(
    settings: Settings,
    application_name: str = "hango-web",
    *,
    pool_wait: float = POOL_WAIT_SECONDS,
) -> Runtime:
    """Make a process's parts from its settings. Opens no connection yet.

    First its telemetry is turned on, if that is wanted: the parts are watched as they are made.
    """
    telemetry.start(settings, application_name)
    queue = Queue(settings)
    redis = redis_client(settings)
    database = Database(
        settings,
        on_commit=lambda jobs: _send(queue, jobs),
        application_name=application_name,
        pool_wait=pool_wait,
    )
    return Runtime(
        settings=settings,
        database=database,
        redis=redis,
        followed=redis_client(settings, max(1, settings.max_streams)),
        queue=queue,
        events=Events(redis),
        provider=provider_for(settings),
        # Renewals go over a connection of their own, so that no crowd of jobs holds them up.
        leases=Leases(
            Database(replace(settings, database_pool=1), application_name=application_name),
            settings.run_lease,
        ),
        outside=OutsideClient(Reach.of(settings.outbound_allow)),
        now=now,
    )


def redis_client(settings: Settings, connections: int = 32) -> Redis:
    """A client that gives up soon: who asks Redis has something better to do without it.

    Who finds all its connections busy waits for one, so that many threads at once are no failure.
    """
    # Here, since importing redis brings asyncio along: a tenth of the time that a start takes.
    with telemetry.unnoticed():
        from redis import BlockingConnectionPool, Redis  # noqa: PLC0415
        from redis.backoff import NoBackoff  # noqa: PLC0415
        from redis.retry import Retry  # noqa: PLC0415

    pool = BlockingConnectionPool.from_url(
        settings.redis_url,
        max_connections=connections,
        timeout=1,
        socket_connect_timeout=0.5,
        socket_timeout=1,
        retry=Retry(NoBackoff(), 0),
        health_check_interval=25,
    )
    client = Redis.from_pool(pool)
    telemetry.watch_redis(client)
    return client


def redis_fails() -> type[Exception]:
    """What Redis raises when it does not answer, or not as it should."""
    from redis import RedisError  # noqa: PLC0415 (as above)

    return RedisError


def _send(queue: Queue, jobs: Sequence[tuple[Job, str]]) -> None:
    """Nudge the workers about rows that are committed; the sweeps find what no nudge reached."""
    for job, row_id in jobs:
        try:
            queue.send(job, row_id)
        except BrokerUnavailable:
            log.warning("job_not_sent", job=job, row_id=row_id)
