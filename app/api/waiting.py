"""Requests that wait for a run or a try to end: parked in their threads, without any connection.

One subscription of Redis per process wakes them up. Wake-ups may get lost, so each of them looks
at the row now and then as well.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from uuid import UUID

import structlog
from flask import after_this_request, current_app, request
from werkzeug.wrappers import Response

from app.api.current import runtime
from app.api.schemas.runs import LONGEST_WAIT
from app.domain.work import Status
from app.errors import Unavailable
from app.events import ENDED
from app.runtime import redis_fails

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
    with _hub().waiting(work_id) as woken:
        if woken is None:
            after_this_request(_come_back)
            return shown
        # Once more, now that no wake-up is missed any more.
        shown = read()
        while not shown.status.is_final and (left := deadline - time.monotonic()) > 0:
            woken.wait(min(left, _LOOK_EVERY))
            woken.clear()
            shown = read()
    return shown


@contextmanager
def place() -> Iterator[None]:
    """A place among those that wait, for a request that stays for long.

    Raises:
        TooManyWait: there is none left.
    """
    hub = _hub()
    if not hub.enter():
        raise TooManyWait("Come back in a moment.", headers={"Retry-After": "1"})
    try:
        yield
    finally:
        hub.leave()


class TooManyWait(Unavailable):
    """As many requests wait already as this process takes."""

    code, title = "too_many_wait", "Too many requests are waiting"


class Hub:
    """Who waits for what in this process, and the one subscription that wakes them up."""

    def __init__(self, redis: Redis, most: int) -> None:
        self._redis = redis
        self._free = threading.Semaphore(max(0, most))
        self._waiting: dict[str, set[threading.Event]] = {}
        self._lock = threading.Lock()
        self._listener: threading.Thread | None = None

    @contextmanager
    def waiting(self, work_id: UUID) -> Iterator[threading.Event | None]:
        """An event that is set when it has ended; None where there is no place left."""
        if not self.enter():
            yield None
            return
        event, name = threading.Event(), str(work_id)
        try:
            self._add(name, event)
            yield event
        finally:
            self._remove(name, event)
            self.leave()

    def enter(self) -> bool:
        """Take a place; False where none is left."""
        return self._free.acquire(blocking=False)

    def leave(self) -> None:
        """Give the place back."""
        self._free.release()

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
        """For as long as somebody waits. After each break of the connection, all look anew."""
        while self._is_wanted():
            try:
                with _subscription(self._redis) as subscription:
                    subscription.subscribe(ENDED)
                    self._wake(None)
                    self._hear(subscription)
            # ValueError: the client was closed in the middle of it.
            except (redis_fails(), OSError, ValueError) as error:
                log.warning("waits_not_woken", kind=type(error).__name__)
                time.sleep(_RECONNECT_AFTER)

    def _hear(self, subscription: Any) -> None:
        while True:
            message = subscription.get_message(timeout=_IDLE)
            if message:
                self._wake(message["data"].decode())
            elif not self._waiting:
                return

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
            most = runtime().settings.max_waits
            current_app.extensions[_EXTENSION] = Hub(runtime().redis, most)
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
