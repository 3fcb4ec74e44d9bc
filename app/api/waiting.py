"""Requests that wait for a run or a try to end: parked in their threads, without any connection.

One subscription of Redis per process wakes them up. Wake-ups may get lost, so now and then one
query looks for all of them at once.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from uuid import UUID

import structlog
from flask import Flask, after_this_request, current_app, request
from werkzeug.wrappers import Response

from app.api.current import runtime
from app.api.schemas.runs import LONGEST_WAIT
from app.domain.work import Status
from app.errors import Failure, Unavailable
from app.events import ENDED
from app.runtime import redis_fails
from app.services import work

if TYPE_CHECKING:
    from redis import Redis

log = structlog.get_logger(__name__)

PREFER: dict[str, Any] = {
    "name": "Prefer",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": f"`wait=N`: answer when it has ended, or after N seconds; "
    f"{LONGEST_WAIT} at most.",
}

_EXTENSION = "hango-waiting"
_LOOK_EVERY = 5.0  # seconds: how late a lost wake-up is found out
_IDLE = 2.0  # for how long the subscription is kept when nobody waits, and nothing comes
_RECONNECT_AFTER = 1.0
_PREFERRED = re.compile(r"(?:^|,)\s*wait\s*=\s*\"?([0-9]{1,9})\"?\s*(?:;[^,]*)?(?=,|$)", re.I)


class HasStatus(Protocol):
    """What can be waited for."""

    @property
    def status(self) -> Status:
        """Where it stands."""


Awaited = TypeVar("Awaited", bound=HasStatus)


def asked_for(wait: int | None) -> int:
    """How many seconds this request wants to wait: by its query, or by `Prefer` (RFC 7240)."""
    preferred = _PREFERRED.search(",".join(request.headers.getlist("Prefer")))
    if preferred:
        after_this_request(lambda response: _applied(response, wait is None, preferred[1]))
    return min(wait if wait is not None else int(preferred[1]) if preferred else 0, LONGEST_WAIT)


def until(read: Callable[[], Awaited], work_id: UUID, seconds: float) -> Awaited:
    """What `read` gives when it has ended or the time is up.

    Above the most waits that this process takes it answers at once, and says when to come back.
    """
    shown = read()
    if shown.status.is_final or seconds <= 0:
        return shown
    deadline = time.monotonic() + seconds
    hub = _hub()
    with hub.waiting(work_id) as woken:
        if woken is None:
            after_this_request(_come_back)
            return shown
        # Once more, now that no wake-up is missed any more.
        shown = read()
        while not shown.status.is_final and (left := deadline - time.monotonic()) > 0:
            if hub.is_leaving:
                after_this_request(_come_back)
                break
            woken.wait(left)
            woken.clear()
            shown = read()
    return shown


@contextmanager
def place() -> Iterator[Callable[[], bool]]:
    """A place for a request that follows a run; tells whether it has to go.

    Raises:
        TooManyWait: there is none left.
    """
    hub = _hub()
    if not hub.follow():
        raise TooManyWait("Come back in a moment.", headers={"Retry-After": "1"})
    try:
        yield lambda: hub.is_leaving
    finally:
        hub.unfollow()


def let_go(app: Flask) -> None:
    """Answer all who wait or follow with what stands: this process ends."""
    with app.app_context():
        _hub().let_go()


class TooManyWait(Unavailable):
    """As many requests wait already as this process takes."""

    code, title = "too_many_wait", "Too many requests are waiting"


Ids = Collection[UUID]


class Hub:
    """Who waits for what in this process, and the one subscription that wakes them up.

    `ended` says which of some runs and tries have ended, or are gone.
    """

    def __init__(self, redis: Redis, ended: Callable[[Ids], Ids], waits: int, streams: int) -> None:
        self._redis = redis
        self._ended = ended
        self._free = threading.Semaphore(max(0, waits))
        self._free_streams = threading.Semaphore(max(0, streams))
        self._waiting: dict[str, set[threading.Event]] = {}
        self._lock = threading.Lock()
        self._listener: threading.Thread | None = None
        self._looked_at = 0.0
        self.is_leaving = False

    @contextmanager
    def waiting(self, work_id: UUID) -> Iterator[threading.Event | None]:
        """An event that is set when it has ended; None where there is no place left."""
        if not self._free.acquire(blocking=False):
            yield None
            return
        event, name = threading.Event(), str(work_id)
        try:
            self._add(name, event)
            yield event
        finally:
            self._remove(name, event)
            self._free.release()

    def follow(self) -> bool:
        """Take a place among those that follow a run; False where none is left."""
        return self._free_streams.acquire(blocking=False)

    def unfollow(self) -> None:
        """Give it back."""
        self._free_streams.release()

    def let_go(self) -> None:
        """From now on nobody waits here."""
        self.is_leaving = True
        self._wake(None)

    def _add(self, name: str, event: threading.Event) -> None:
        with self._lock:
            self._waiting.setdefault(name, set()).add(event)
            if self._listener is None:
                self._listener = threading.Thread(target=self._listen, name="waits", daemon=True)
                self._listener.start()

    def _remove(self, name: str, event: threading.Event) -> None:
        with self._lock:
            events = self._waiting[name]
            events.discard(event)
            if not events:
                del self._waiting[name]

    def _listen(self) -> None:
        """For as long as somebody waits."""
        while self._is_wanted():
            try:
                with _subscription(self._redis) as subscription:
                    subscription.subscribe(ENDED)
                    self._look()  # for what ended while nobody listened
                    self._hear(subscription)
            # ValueError: the client was closed in the middle of it.
            except (redis_fails(), OSError, ValueError) as error:
                log.warning("waits_not_woken", kind=type(error).__name__)
                time.sleep(_RECONNECT_AFTER)
                self._look()

    def _hear(self, subscription: Any) -> None:
        while True:
            message = subscription.get_message(timeout=min(_IDLE, _LOOK_EVERY))
            if message:
                self._wake(message["data"].decode())
            elif not self._waiting:
                return
            if time.monotonic() - self._looked_at >= _LOOK_EVERY:
                self._look()

    def _look(self) -> None:
        """Wake those whose wake-up was lost."""
        self._looked_at = time.monotonic()
        with self._lock:
            names = [UUID(name) for name in self._waiting]
        try:
            found = self._ended(names) if names else ()
        except Failure as failure:
            log.warning("waits_not_looked_after", code=failure.code)
            return
        for work_id in found:
            self._wake(str(work_id))

    def _is_wanted(self) -> bool:
        """Whether anybody waits; where nobody does, the next one starts another listener."""
        with self._lock:
            if not self._waiting:
                self._listener = None
            return bool(self._waiting)

    def _wake(self, name: str | None) -> None:
        with self._lock:
            names = list(self._waiting) if name is None else [name]
            for each in names:
                for event in self._waiting.get(each, ()):
                    event.set()


def _subscription(redis: Redis) -> Any:
    pubsub: Any = redis.pubsub  # redis has no types here
    return pubsub(ignore_subscribe_messages=True)


_making = threading.Lock()


def _hub() -> Hub:
    """The hub of this process, made by the first request that waits: so after any fork."""
    with _making:
        if _EXTENSION not in current_app.extensions:
            parts, settings = runtime(), runtime().settings
            current_app.extensions[_EXTENSION] = Hub(
                parts.redis,
                lambda ids: work.ended(parts, ids),
                settings.max_waits,
                settings.max_streams,
            )
    hub: Hub = current_app.extensions[_EXTENSION]
    return hub


def _come_back(response: Response) -> Response:
    response.headers["Retry-After"] = "1"
    return response


def _applied(response: Response, applied: bool, seconds: str) -> Response:
    response.headers.add("Vary", "Prefer")
    if applied:
        seconds = str(min(int(seconds), LONGEST_WAIT))
        response.headers["Preference-Applied"] = f"wait={seconds}"
    return response
