"""When a failed call is sent again."""

from __future__ import annotations

import pytest

from app.provider.failures import (
    ConnectionLost,
    LimitReached,
    Overloaded,
    ProviderFailure,
    RateLimited,
    RequestRefused,
    Seen,
)
from app.provider.retries import MAX_ATTEMPTS, wait_before_retry

BUSY = Overloaded()


@pytest.mark.parametrize("failure", [RequestRefused(), LimitReached(), ConnectionLost()])
def test_what_cannot_get_better_is_not_sent_again(failure: ProviderFailure) -> None:
    assert wait_before_retry(failure, 1, remaining=1000) is None


@pytest.mark.parametrize("seen", [Seen(started=True), Seen(outcome_unknown=True)])
def test_what_may_be_paid_for_is_not_sent_again(seen: Seen) -> None:
    assert wait_before_retry(Overloaded(seen=seen), 1, remaining=1000) is None


def test_waits_grow_and_are_spread() -> None:
    longest = [wait_before_retry(BUSY, n, 1000, jitter=lambda: 0) for n in range(1, MAX_ATTEMPTS)]
    shortest = [wait_before_retry(BUSY, n, 1000, jitter=lambda: 1) for n in range(1, MAX_ATTEMPTS)]

    assert longest == [0.5, 1, 2, 4]
    assert shortest == [0.375, 0.75, 1.5, 3]


def test_attempts_come_to_an_end() -> None:
    assert wait_before_retry(BUSY, MAX_ATTEMPTS, remaining=1000) is None


@pytest.mark.parametrize(
    ("remaining", "waits"), [(7.1, True), (6.9, False), (0, False), (-1, False)]
)
def test_a_wait_that_was_asked_for_is_kept_or_not_begun(remaining: float, waits: bool) -> None:
    limited = RateLimited(seen=Seen(retry_after=7))

    wait = wait_before_retry(limited, 1, remaining, jitter=lambda: 0)

    assert wait == (7 if waits else None)
