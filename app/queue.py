"""Sends jobs: the Celery client and its broker settings."""

from __future__ import annotations

from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import celery
import kombu
from structlog.contextvars import get_contextvars

from app.domain.jobs import QUEUE_OF, Job, QueueName
from app.errors import BrokerUnavailable
from app.settings import Settings
from app.telemetry import names, spans
from app.telemetry import setup as telemetry

# Redis hands out again what is not acknowledged for this long, so it stands above the longest job.
VISIBILITY_SECONDS = 3600

KEY_PREFIX = "hango:"  # of everything that the broker keeps

REQUEST_ID_HEADER = "hango_request_id"  # ties a job's log lines to the request that queued it


def key_of(job: Job) -> str:
    """The list in Redis that this job waits in."""
    return KEY_PREFIX + QUEUE_OF[job]


class Queue:
    """The door to the workers. Sending either succeeds or fails within about two seconds."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def _celery(self) -> celery.Celery:
        return celery_client(self._settings)

    def send(self, job: Job, row_id: str | None = None) -> None:
        """Queue a job for one row; the row itself says what there is to do.

        Raises:
            BrokerUnavailable: Redis does not answer; nothing was queued.
        """
        request_id = get_contextvars().get("request_id")
        with spans.begun(f"{names.SEND} {job}", "producer", span_attributes(job)):
            try:
                self._celery.send_task(
                    job,
                    args=[] if row_id is None else [row_id],
                    headers={REQUEST_ID_HEADER: request_id, **spans.carrier()},
                )
            except (kombu.exceptions.OperationalError, OSError) as error:
                raise BrokerUnavailable("Try again in a moment.") from error

    def close(self) -> None:
        """Close the connections to the broker."""
        self._celery.close()


def span_attributes(job: Job) -> spans.Attributes:
    """What spans of those who send and who receive this job have in common."""
    return {names.MESSAGING_SYSTEM: "redis", names.QUEUE: QUEUE_OF[job], names.JOB: job}


def celery_client(settings: Settings) -> celery.Celery:
    """The Celery application, with settings that both senders and workers live by."""
    with telemetry.unnoticed():
        import redis  # noqa: F401, PLC0415 (kombu does so later, where nobody can step in)

    client = celery.Celery("hango", broker=broker_url(settings.redis_url), set_as_current=False)
    queues = [kombu.Queue(name) for name in QueueName]  # type: ignore[attr-defined, no-untyped-call]
    client.conf.update(_BROKER | _DELIVERY | _WORKER, task_queues=queues)
    return client


def broker_url(redis_url: str) -> str:
    """The same server in kombu's spelling, which differs for sockets.

    unix:///run/valkey.sock?db=3 → redis+socket:///run/valkey.sock?virtual_host=3
    """
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    names = {"db": "virtual_host"}
    query = urlencode([(names.get(name, name), value) for name, value in parse_qsl(parts.query)])
    socket = f"redis+socket://{parts.netloc}{parts.path}"
    return f"{socket}?{query}" if query else socket


_BROKER: dict[str, Any] = {
    # Without these a publish on a dead connection waits for ever.
    "broker_transport_options": {
        "socket_connect_timeout": 1,
        "socket_timeout": 5,  # above the workers' blocking read
        "visibility_timeout": VISIBILITY_SECONDS,
        "health_check_interval": 25,
        "global_keyprefix": KEY_PREFIX,
    },
    "broker_connection_retry_on_startup": True,
    "broker_pool_limit": 32,  # at least as many as threads that send
    "broker_pool_acquire_timeout": 2,
    "task_publish_retry_policy": {"max_retries": 1, "interval_start": 0.1},
}

_DELIVERY: dict[str, Any] = {
    # Rows are the results. With a result backend a publish blocks for long when Redis is down.
    "task_ignore_result": True,
    "task_serializer": "json",
    "accept_content": ["json"],
    "task_default_queue": QueueName.UPKEEP,
    "task_create_missing_queues": False,
    "task_routes": {job.value: {"queue": queue.value} for job, queue in QUEUE_OF.items()},
    # Each job starts from its row and is safe to deliver twice.
    "task_acks_late": True,
    "task_acks_on_failure": True,
    "task_acks_on_timeout": True,
    "task_reject_on_worker_lost": False,  # True loops for ever on a job that kills its worker
    "enable_utc": True,
    "timezone": "UTC",
}

_WORKER: dict[str, Any] = {
    "worker_prefetch_multiplier": 1,
    "worker_max_tasks_per_child": 500,
    "worker_max_memory_per_child": 512 * 1024,  # KiB
    "worker_soft_shutdown_timeout": 60,
    "worker_cancel_long_running_tasks_on_connection_loss": False,
    "worker_hijack_root_logger": False,
    "worker_redirect_stdouts": False,
}
