"""When a failed call is sent again, and after how long."""

from __future__ import annotations

import random
from collections.abc import Callable

from app.provider.failures import ProviderFailure

MAX_ATTEMPTS = 5
_FIRST_WAIT = 0.5  # seconds, doubled with each attempt
_LONGEST_WAIT = 8.0


def wait_before_retry(
    failure: ProviderFailure,
    attempt: int,
    remaining: float,
    jitter: Callable[[], float] = random.random,
) -> float | None:
    """Seconds to wait before the next attempt, or None to give up. `attempt` counts from 1.

    A wait that would end at the deadline or behind it is not begun, however long the provider
    asks for: its answer is worth more now than as a timeout later. `jitter` gives 0 to 1 and
    keeps many callers from coming back at the same moment.
    """
    if not failure.retryable or attempt >= MAX_ATTEMPTS:
        return None
    asked = failure.seen.retry_after
    if asked is None:
        wait = min(_FIRST_WAIT * 2 ** (attempt - 1), _LONGEST_WAIT) * (1 - jitter() / 4)
    else:
        wait = asked + jitter() / 4
    return wait if wait < remaining else None
