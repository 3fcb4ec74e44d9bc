"""What runs and tries tell while they go: streams in Redis that live for a while, and wake-ups.

Nothing depends on them: rows are the truth, and a Redis that is away costs only the news.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

import structlog

from app.domain.jsontext import dumps

if TYPE_CHECKING:
    from redis import Redis

log = structlog.get_logger(__name__)

ENDED = "hango:runs:ended"  # the channel that says which run or try has ended
KEPT_EVENTS = 10_000  # of one run
KEPT_SECONDS = 3600  # after the last of them
REST_SECONDS = 5.0  # a Redis that hangs costs a second each time: it is left alone for a while
SWEPT_SECONDS = 60  # how long a sweep counts as of late: a few intervals of the schedule

_SWEPT_KEY = "hango:swept"


def stream_of(run_id: UUID) -> str:
    """The key of a run's stream."""
    return f"hango:runs:{run_id}:events"


def _cancel_key(run_id: UUID) -> str:
    return f"hango:runs:{run_id}:cancel"


class Events:
    """The door to them. Nothing here ever fails its caller."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._unharmed = _Unharmed()

    def tell(self, run_id: UUID, kind: str, data: Mapping[str, Any]) -> None:
        """Add an event to the run's stream."""
        if self._unharmed.rests:
            return
        with self._unharmed, self._redis.pipeline(transaction=False) as pipeline:
            _add(pipeline, run_id, kind, data)
            pipeline.execute()

    def ended(self, run_id: UUID, status: str) -> None:
        """Say that a run has ended: the last event of its stream, and what waiters wake up by."""
        with self._unharmed, self._redis.pipeline(transaction=False) as pipeline:
            pipeline.publish(ENDED, str(run_id))  # first, and in one trip: somebody waits
            _add(pipeline, run_id, "done", {"status": status})
            pipeline.execute()

    def ask_to_cancel(self, run_id: UUID) -> None:
        """Let the worker know soon; its row tells it later in any case."""
        with self._unharmed:
            self._redis.set(_cancel_key(run_id), "1", ex=KEPT_SECONDS)

    def is_asked_to_cancel(self, run_id: UUID) -> bool:
        """Whether that was said of late."""
        if self._unharmed.rests:
            return False
        with self._unharmed:
            return bool(self._redis.exists(_cancel_key(run_id)))
        return False

    def swept(self) -> None:
        """Note that a sweep has just gone through."""
        with self._unharmed:
            self._redis.set(_SWEPT_KEY, "1", ex=SWEPT_SECONDS)

    def was_swept(self) -> bool:
        """Whether one has of late; so it seems, too, while Redis is away."""
        with self._unharmed:
            return bool(self._redis.exists(_SWEPT_KEY))
        return True


def _add(pipeline: Any, run_id: UUID, kind: str, data: Mapping[str, Any]) -> None:
    fields: dict[Any, Any] = {"kind": kind, "data": dumps(data)}
    pipeline.xadd(stream_of(run_id), fields, maxlen=KEPT_EVENTS, approximate=True)
    pipeline.expire(stream_of(run_id), KEPT_SECONDS)


class _Unharmed:
    """Lets errors of Redis pass with a line in the log, and knows of late ones."""

    def __init__(self) -> None:
        self._rests_until = 0.0

    @property
    def rests(self) -> bool:
        """Whether Redis failed a moment ago: what comes word by word is better not even tried."""
        return time.monotonic() < self._rests_until

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        # Here, since importing redis takes long: see app/runtime.py.
        from redis import RedisError  # noqa: PLC0415

        if not isinstance(error, RedisError | OSError):
            return False
        self._rests_until = time.monotonic() + REST_SECONDS
        log.warning("event_not_told", kind=type(error).__name__)
        return True
