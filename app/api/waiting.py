"""Requests that wait for a run or a try to end: parked in their threads, without any connection.

Who wakes them up, and when: see hub.py.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar
from uuid import UUID

from flask import Flask, after_this_request, current_app, request
from werkzeug.wrappers import Response

from app.api.current import principal, reading, runtime
from app.api.hub import Hub, Place
from app.api.schemas.runs import LONGEST_WAIT
from app.domain.work import Status
from app.errors import Unavailable
from app.services import work
from app.store.transaction import Transaction

PREFER: dict[str, Any] = {
    "name": "Prefer",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": f"`wait=N`: answer when it has ended, or after N seconds; "
    f"{LONGEST_WAIT} at most.",
}

_EXTENSION = "hango-waiting"
_PREFERRED = re.compile(r"(?:^|,)\s*wait\s*=\s*\"?([0-9]{1,9})\"?\s*(?:;[^,]*)?(?=,|$)", re.I)


class HasStatus(Protocol):
    """What can be waited for."""

    @property
    def status(self) -> Status:
        """Where it stands."""


Awaited = TypeVar("Awaited", bound=HasStatus)
ReadMany = Callable[[Transaction, Collection[UUID]], Mapping[UUID, Awaited]]


def asked_for(wait: int | None) -> int:
    """How many seconds this request wants to wait: by its query, or by `Prefer` (RFC 7240)."""
    preferred = _PREFERRED.search(",".join(request.headers.getlist("Prefer")))
    if preferred:
        after_this_request(lambda response: _applied(response, wait is None, preferred[1]))
    return min(wait if wait is not None else int(preferred[1]) if preferred else 0, LONGEST_WAIT)


def until(
    read: Callable[[], Awaited],
    work_id: UUID,
    seconds: float,
    read_many: ReadMany[Awaited] | None = None,
) -> Awaited:
    """What `read` gives when it has ended or the time is up.

    With `read_many` those who wake up together are read together, each group through the eyes of
    its principal: what that one may not see is not found, as by `read`.

    Above the most waits that this process takes it answers at once, and says when to come back.
    """
    if seconds <= 0:
        return read()
    deadline = time.monotonic() + seconds
    hub = _hub()
    group = object() if read_many is None else (read_many, principal())
    with hub.waiting(work_id, group, _descriptor()) as place:
        # With the place taken: what ends behind this look is told.
        shown = read()
        if shown.status.is_final:
            return shown
        if place is None:
            after_this_request(_come_back)
            return shown
        hub.listen()
        while not shown.status.is_final and (left := deadline - time.monotonic()) > 0:
            if hub.is_leaving:
                after_this_request(_come_back)
                break
            handed, led = hub.wait(place, left)
            if led and read_many is not None:
                handed = _read_together(hub, read_many, place, led)
            if place.is_deserted:
                break
            shown = read() if handed is None else handed
    return shown


def _descriptor() -> int | None:
    """Of the connection to the client, where the server tells."""
    connection = request.environ.get("gunicorn.socket")
    return None if connection is None else int(connection.fileno())


def _read_together(
    hub: Hub, read_many: ReadMany[Awaited], place: Place[Awaited], led: Sequence[Place[Awaited]]
) -> Awaited | None:
    """What was found for this place, with those that it leads having theirs."""
    found: Mapping[UUID, Awaited] = {}
    try:
        with reading() as tx:
            found = read_many(tx, [place.work_id, *(each.work_id for each in led)])
    finally:
        hub.hand_out(place, led, found.get)
    return found.get(place.work_id)


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
