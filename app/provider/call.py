"""The bounds of one provider call, asked about wherever it waits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from app.provider.base import Cancelled as AskCancelled
from app.provider.base import never
from app.provider.failures import (
    UNKNOWN_OUTCOME,
    Cancelled,
    DeadlinePassed,
    Seen,
    StreamBroken,
)

ATTENTION = 0.5  # seconds: a wait is never longer before `cancelled` is asked again
MAX_ANSWER_BYTES = 64 * 2**20  # a model's largest answer is about a hundredth of it


class Call:
    """The deadline of a call, its cancellation, and how much it may receive.

    Every wait on the network goes through `patience`, so that neither silence nor a byte a second
    outlasts the deadline. No timer, no thread, no signal: it holds in every worker pool.
    """

    def __init__(self, deadline: float, cancelled: AskCancelled = never) -> None:
        self._deadline = deadline
        self._cancelled = cancelled
        self._received = 0
        self.in_flight = False  # a request was sent, and its answer has not come

    @property
    def remaining(self) -> float:
        """Seconds left; below 0 when it is over."""
        return self._deadline - time.monotonic()

    def is_over(self) -> bool:
        """Whether it was cancelled, or its deadline is past."""
        return self._cancelled() or self.remaining <= 0

    def patience(self, longest: float = ATTENTION) -> float:
        """How many seconds to wait before asking again.

        Raises:
            DeadlinePassed, Cancelled
        """
        if self._cancelled():
            raise Cancelled("The call was stopped on request.", seen=self._seen())
        remaining = self.remaining
        if remaining <= 0:
            raise DeadlinePassed("The call was stopped at its deadline.", seen=self._seen())
        return min(remaining, longest)

    def pause(self, seconds: float) -> None:
        """Let time pass, within the bounds. Raises as `patience` does."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, self.patience()))

    def received(self, size: int) -> None:
        """Take note of bytes that came.

        Raises:
            StreamBroken: there were too many: this is no model's answer.
        """
        self._received += size
        if self._received > MAX_ANSWER_BYTES:
            raise StreamBroken("The answer is larger than any model's.", seen=UNKNOWN_OUTCOME)

    def hurry(self, seconds: float) -> None:
        """Move the deadline closer: what is still to come does not matter much."""
        self._deadline = min(self._deadline, time.monotonic() + seconds)

    def _seen(self) -> Seen:
        return Seen(outcome_unknown=self.in_flight)


_current: ContextVar[Call] = ContextVar("call")


@contextmanager
def bounded_by(call: Call) -> Iterator[None]:
    """Let everything that this thread does on the network keep to the bounds of `call`."""
    token = _current.set(call)
    try:
        yield
    finally:
        _current.reset(token)


def current() -> Call:
    """The call that this thread is busy with. LookupError outside of one: a bug."""
    return _current.get()
