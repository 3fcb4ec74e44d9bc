"""A run's events as Server-Sent Events: from the beginning, or from behind the last one seen.

Ids are those of the run's stream in Redis, which has a known length and lives for a while. What is
older is not skipped in silence: `reset` says that the client has to read the messages anew.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import structlog

from app.domain.runs import Run
from app.errors import BadParameter, Fault
from app.events import stream_of
from app.runtime import redis_fails

if TYPE_CHECKING:
    from redis import Redis

log = structlog.get_logger(__name__)

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
START = "0-0"

_ID = re.compile(r"[0-9]{1,15}-[0-9]{1,15}", re.ASCII)
_BLOCK_MS = 500  # below the time after which the client of Redis gives up
_AT_ONCE = 200  # events
_LOOK_EVERY = 5.0  # seconds: how late it is found out that a run has ended and nobody said so
_KEEP_ALIVE_EVERY = 15.0


def position(last_event_id: str | None) -> str:
    """Where to go on.

    Raises:
        BadParameter: not an id of an event.
    """
    if not last_event_id:
        return START
    if not _ID.fullmatch(last_event_id):
        advice = "Give the id of the last event that you have seen."
        raise BadParameter(faults=[Fault("Last-Event-ID", "invalid", advice)])
    return last_event_id


def follow(
    redis: Redis, read: Callable[[], Run], after: str, must_go: Callable[[], bool]
) -> Iterator[str]:
    """The frames behind `after`, until the run has ended. `read` reads the run's row.

    Where `must_go` they end before that: the client comes again, to another process.
    """
    try:
        yield from _Following(redis, read, after, must_go).frames()
    except (redis_fails(), OSError) as error:
        # The client comes again, with the id of the last event that it has.
        log.warning("events_broken_off", kind=type(error).__name__)


class _Following:
    def __init__(
        self, redis: Redis, read: Callable[[], Run], after: str, must_go: Callable[[], bool]
    ) -> None:
        self._redis: Any = redis
        self._must_go = must_go
        self._read = read
        self._after = after
        self._run = read()
        self._key = stream_of(self._run.id)
        self._looked_at = self._sent_at = time.monotonic()

    def frames(self) -> Iterator[str]:
        yield ": following\n\n"  # so that the headers leave at once
        if self._is_too_old():
            self._after = START
            yield _frame("reset", "{}")
        while not self._must_go():
            found = self._redis.xread({self._key: self._after}, count=_AT_ONCE, block=_BLOCK_MS)
            for event_id, fields in found[0][1] if found else ():
                self._after = event_id.decode()
                self._sent_at = time.monotonic()
                kind = fields[b"kind"].decode()
                yield _frame(kind, fields[b"data"].decode(), self._after)
                if kind == "done":
                    return
            if not found:
                yield from self._quiet()
                if self._run.status.is_final:
                    return

    def _is_too_old(self) -> bool:
        """Whether the event to go on from is no longer kept."""
        return self._after != START and not self._redis.xrange(self._key, self._after, self._after)

    def _quiet(self) -> Iterator[str]:
        """Nothing came: keep the connection alive, and look whether the run has ended unheard."""
        now = time.monotonic()
        if self._run.status.is_final:
            yield _frame("done", f'{{"status":"{self._run.status}"}}')
        elif now - self._looked_at >= _LOOK_EVERY:
            self._looked_at = now
            self._run = self._read()
            yield from self._quiet() if self._run.status.is_final else ()
        elif now - self._sent_at >= _KEEP_ALIVE_EVERY:
            self._sent_at = now
            yield ": still here\n\n"


def _frame(kind: str, data: str, event_id: str | None = None) -> str:
    """One event. Data is JSON and so of one line."""
    head = f"id: {event_id}\n" if event_id else ""
    return f"{head}event: {kind}\ndata: {data}\n\n"
