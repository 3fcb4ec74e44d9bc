"""Who waits in this process, and the one subscription of Redis that wakes them up.

Results that come together are read together: of those who are to wake up, one reads for all that
may see the same, and hands each its own. So each thread wakes up once, and the database is asked
seldom.
"""

from __future__ import annotations

import itertools
import select
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import UUID

import structlog

from app.errors import Failure
from app.events import ENDED
from app.runtime import redis_fails

if TYPE_CHECKING:
    from redis import Redis

log = structlog.get_logger(__name__)

LOOK_EVERY = 5.0  # seconds: how late a lost wake-up is found out
TOGETHER = 100  # results that one reads for all at most: so the first need not wait for the last
_IDLE = 2.0  # for how long the subscription is kept when nobody waits, and nothing comes
RECONNECT_AFTER = 1.0

_HANGS_UP = getattr(select, "POLLRDHUP", select.POLLHUP)  # the first is known to Linux alone

Ids = Collection[UUID]
Result = TypeVar("Result")


class Place(Generic[Result]):
    """Where one request waits.

    `group`: what those have in common who read the same way. `descriptor`: of its client's
    connection, where that is known.
    """

    __slots__ = (
        "descriptor",
        "event",
        "follower",
        "group",
        "handed",
        "is_deserted",
        "led",
        "left",
        "name",
        "woken",
        "work_id",
    )

    def __init__(self, work_id: UUID, group: Hashable, descriptor: int | None) -> None:
        self.work_id = work_id
        self.name = str(work_id)
        self.group = group
        self.descriptor = descriptor
        self.is_deserted = False  # its client has gone away
        self.event = threading.Event()
        self.woken = False  # or about to be, by the one that leads it
        self.handed: Result | None = None  # what that one has found for it
        self.led: Sequence[Place[Result]] = ()  # for whom it reads, itself left out
        self.follower: Place[Result] | None = None  # whom it wakes when it is through
        self.left = False


class Hub:
    """Who waits for what in this process.

    `ended` says which of some runs and tries have ended, or are gone.
    """

    def __init__(self, redis: Redis, ended: Callable[[Ids], Ids], waits: int, streams: int) -> None:
        self._redis = redis
        self._ended = ended
        self._free = threading.Semaphore(max(0, waits))
        self._free_streams = threading.Semaphore(max(0, streams))
        self._waiting: dict[str, set[Place[Any]]] = {}
        self._lock = threading.Lock()
        self._listener: threading.Thread | None = None
        self._looked_at = 0.0
        self.is_leaving = False

    @contextmanager
    def waiting(
        self, work_id: UUID, group: Hashable, descriptor: int | None = None
    ) -> Iterator[Place[Any] | None]:
        """A place that is woken when it has ended; None where there is none left.

        What ends before `listen` may be missed, and is found by looking.
        """
        if not self._free.acquire(blocking=False):
            yield None
            return
        place: Place[Any] = Place(work_id, group, descriptor)
        try:
            with self._lock:
                self._waiting.setdefault(place.name, set()).add(place)
            yield place
        finally:
            self._remove(place)
            self._free.release()

    def listen(self) -> None:
        """See to it that those who have a place are woken."""
        with self._lock:
            if self._listener is None:
                self._listener = threading.Thread(target=self._listen, name="waits", daemon=True)
                self._listener.start()

    def wait(
        self, place: Place[Result], seconds: float
    ) -> tuple[Result | None, Sequence[Place[Result]]]:
        """What the place was handed when it woke up, and whom it has to read for."""
        self._pass_on(place)
        place.event.wait(seconds)
        with self._lock:
            taken = place.handed, place.led
            place.handed, place.led, place.woken = None, (), False
            place.event.clear()
        return taken

    def hand_out(
        self,
        leader: Place[Result],
        led: Sequence[Place[Result]],
        found: Callable[[UUID], Result | None],
    ) -> None:
        """Give those that it leads what was found of theirs. Who gets nothing reads for itself.

        Each wakes the next when it is through: hundreds that are awake at once would hold each
        other up.
        """
        with self._lock:
            last = leader
            for each in led:
                if not each.left:
                    each.handed = found(each.work_id)
                    last.follower, last = each, each

    def follow(self) -> bool:
        """Take a place among those that follow a run; False where none is left."""
        return self._free_streams.acquire(blocking=False)

    def unfollow(self) -> None:
        """Give it back."""
        self._free_streams.release()

    def let_go(self) -> None:
        """From now on nobody waits here."""
        self.is_leaving = True
        self._wake(list(self._waiting))

    def _remove(self, place: Place[Any]) -> None:
        with self._lock:
            places = self._waiting[place.name]
            places.discard(place)
            if not places:
                del self._waiting[place.name]
            place.left = True
        # It may have been chosen to read for others at the moment that its own time was up.
        self.hand_out(place, place.led, lambda _: None)
        self._pass_on(place)

    def _pass_on(self, place: Place[Any]) -> None:
        with self._lock:
            follower, place.follower = place.follower, None
        if follower is not None:
            follower.event.set()

    def _listen(self) -> None:
        """For as long as somebody waits."""
        while self._is_wanted():
            try:
                with _subscription(self._redis) as subscription:
                    subscription.subscribe(ENDED)
                    subscription.get_message(timeout=_IDLE)  # it is heard from now on
                    self._look()  # for what ended while nobody listened
                    self._hear(subscription)
            # ValueError: the client was closed in the middle of it.
            except (redis_fails(), OSError, ValueError) as error:
                log.warning("waits_not_woken", kind=type(error).__name__)
                time.sleep(RECONNECT_AFTER)
                self._look()

    def _hear(self, subscription: Any) -> None:
        while True:
            names = list(itertools.islice(_heard(subscription, min(_IDLE, LOOK_EVERY)), TOGETHER))
            if names:
                self._wake(names)
            elif not self._waiting:
                return
            if time.monotonic() - self._looked_at >= LOOK_EVERY:
                self._look()

    def _look(self) -> None:
        """Wake those whose wake-up was lost, and those whose client has gone away."""
        self._looked_at = time.monotonic()
        with self._lock:
            names = list(self._waiting)
            for place in _deserted(itertools.chain.from_iterable(self._waiting.values())):
                place.is_deserted = True
                place.event.set()
        try:
            found = self._ended([UUID(name) for name in names]) if names else ()
        except Failure as failure:
            log.warning("waits_not_looked_after", code=failure.code)
            return
        self._wake(map(str, found))

    def _is_wanted(self) -> bool:
        """Whether anybody waits; where nobody does, the next one starts another listener."""
        with self._lock:
            if not self._waiting:
                self._listener = None
            return bool(self._waiting)

    def _wake(self, names: Iterable[str]) -> None:
        """Wake one of each group to read for the others; who reads its own way is woken at once."""
        groups: dict[Hashable, list[Place[Any]]] = defaultdict(list)
        with self._lock:
            for name in names:
                for place in self._waiting.get(name, ()):
                    if not place.woken:
                        place.woken = True
                        groups[place.group].append(place)
            leaders = [leader for group in groups.values() for leader in _led(group)]
        for each in leaders:
            each.event.set()


def _deserted(places: Iterable[Place[Any]]) -> list[Place[Any]]:
    """Those whose client has closed its connection."""
    by_descriptor = {each.descriptor: each for each in places if each.descriptor is not None}
    poll = select.poll()
    for descriptor in by_descriptor:
        poll.register(descriptor, _HANGS_UP)
    return [by_descriptor[descriptor] for descriptor, _ in poll.poll(0)]


def _led(group: list[Place[Any]]) -> Iterator[Place[Any]]:
    for start in range(0, len(group), TOGETHER):
        leader, *led = group[start : start + TOGETHER]
        leader.led = led
        yield leader


def _heard(subscription: Any, seconds: float) -> Iterator[str]:
    """What has come; waits for the first of them only."""
    while message := subscription.get_message(timeout=seconds):
        yield message["data"].decode()
        seconds = 0


def _subscription(redis: Redis) -> Any:
    pubsub: Any = redis.pubsub  # redis has no types here
    return pubsub(ignore_subscribe_messages=True)
