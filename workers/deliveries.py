"""What a worker takes from its queues: hango's own jobs, and nothing that could end it.

kombu and Celery take apart what they find in Redis. An entry that is no message of theirs would end
the worker that reads it, and with several of them one worker after the other.
"""

from __future__ import annotations

import base64
import json
from typing import Any, Literal

import msgspec
import structlog
from celery import Celery
from kombu import connection

from app.domain.jobs import Job, QueueName
from app.telemetry import setup as telemetry

with telemetry.unnoticed():
    from kombu.transport import redis

log = structlog.get_logger(__name__)


class _Headers(msgspec.Struct):
    task: Job
    id: str
    eta: str | None = None
    expires: str | None = None
    timelimit: tuple[float | None, float | None] | None = None


class _Address(msgspec.Struct):
    exchange: str
    routing_key: str


class _Properties(msgspec.Struct):
    delivery_tag: str
    delivery_info: _Address
    body_encoding: Literal["base64"]


class _Message(msgspec.Struct):
    """A job as Celery sends it (message protocol 2 over Redis)."""

    body: str
    headers: _Headers
    properties: _Properties
    content_type: Literal["application/json"] = msgspec.field(name="content-type")
    content_encoding: Literal["utf-8"] = msgspec.field(name="content-encoding")


# args, kwargs, what follows
_BODY = msgspec.json.Decoder(tuple[list[Any], dict[str, Any], dict[str, Any] | None])

_UNREADABLE = (json.JSONDecodeError, UnicodeDecodeError, RecursionError)


class Channel(redis.Channel):
    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[no-untyped-call]  # kombu has no types
        except _UNREADABLE:  # by then it is taken from the queue
            log.warning("message_refused", reason="no JSON")
            return True


class Transport(redis.Transport):
    """Redis, without what is no job of hango."""

    Channel = Channel

    def _deliver(self, message: Any, queue: str) -> None:
        if queue in set(QueueName) and not _is_a_job(message):
            log.warning("message_refused", reason="no job of hango", queue=queue)
        else:
            super()._deliver(message, queue)  # type: ignore[no-untyped-call]


def _is_a_job(message: Any) -> bool:
    try:
        _BODY.decode(base64.b64decode(msgspec.convert(message, _Message).body, validate=True))
    except (ValueError, RecursionError):  # msgspec's and base64's are of this kind
        return False
    return True


class Connection(connection.Connection):
    """To Redis, however its URL is spelled."""

    def get_transport_cls(self) -> type[Transport]:
        return Transport


def guard(celery: Celery) -> None:
    """Have this application read its queues by way of `Transport`."""
    celery.amqp.Connection = Connection
