"""Every call ends in time, whatever the provider does. The bound on the clock is the promise."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from app.provider.anthropic import AnthropicProvider
from app.provider.failures import (
    Cancelled,
    ConnectionLost,
    DeadlinePassed,
    Overloaded,
    ProviderFailure,
    RateLimited,
    ServerError,
    Unreachable,
)
from tests.fakes.strict_provider import (
    Cut,
    PingStorm,
    Silence,
    Status,
    StrictProvider,
    Trickle,
)
from tests.provider.conftest import a_body, failure_of, within

DEADLINE = 2.0  # seconds
SLACK = 3.0  # for a busy machine; without a deadline the calls below take minutes

ENDLESS = [
    pytest.param(Silence(), id="no answer at all"),
    pytest.param(Silence(after=0), id="a head and nothing more"),
    pytest.param(Silence(after=4), id="silence in the middle"),
    pytest.param(Trickle(seconds=0.2), id="a head, byte by byte"),
    pytest.param(Trickle(seconds=0.2, head=False), id="a body, byte by byte"),
    pytest.param(PingStorm(), id="pings for ever"),
]


def timed(call: Callable[[], object]) -> tuple[ProviderFailure, float]:
    started = time.monotonic()
    failure = failure_of(call)
    return failure, time.monotonic() - started


@pytest.mark.parametrize("fault", ENDLESS)
def test_a_provider_that_never_ends_is_cut_at_the_deadline(
    strict: StrictProvider, adapter: AnthropicProvider, fault: Any
) -> None:
    strict.fail(fault)

    failure, seconds = timed(lambda: adapter.complete(a_body(), deadline=within(DEADLINE)))

    assert isinstance(failure, DeadlinePassed)
    assert failure.seen.outcome_unknown
    assert seconds < DEADLINE + SLACK
    assert len(strict.calls) == 1


def test_the_deadline_holds_in_threads_and_the_next_call_runs(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    strict.fail(Silence(), times=8)

    with ThreadPoolExecutor(8) as pool:
        ends = [
            pool.submit(timed, lambda: adapter.complete(a_body(), deadline=within(DEADLINE)))
            for _ in range(8)
        ]
        outcomes = [end.result() for end in ends]

    assert {type(failure) for failure, _ in outcomes} == {DeadlinePassed}
    assert max(seconds for _, seconds in outcomes) < DEADLINE + SLACK
    assert adapter.complete(a_body(), deadline=within(30)).stop_reason == "end_turn"


def test_counting_keeps_to_its_deadline_and_is_never_tried_again(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    path = "/v1/messages/count_tokens"
    strict.fail(Silence(), path=path)
    hung, seconds = timed(lambda: adapter.count_tokens(a_body(), deadline=within(DEADLINE)))
    strict.fail(Status(529, "overloaded_error"), path=path)
    busy, _ = timed(lambda: adapter.count_tokens(a_body(), deadline=within(30)))

    assert isinstance(hung, DeadlinePassed)
    assert seconds < DEADLINE + SLACK
    assert isinstance(busy, Overloaded)
    assert len(strict.requests) == 2


def test_a_server_that_accepts_and_reads_nothing_is_cut_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        adapter = AnthropicProvider("key", f"http://127.0.0.1:{listening.getsockname()[1]}")
        adapter.prepare()
        body = a_body("x" * 20_000_000)  # more than the buffers on the way hold

        failure, seconds = timed(lambda: adapter.complete(body, deadline=within(DEADLINE)))

        assert isinstance(failure, DeadlinePassed)
        assert seconds < DEADLINE + SLACK
        adapter.close()


def test_an_encrypted_handshake_that_hangs_is_cut_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        adapter = AnthropicProvider("key", f"https://127.0.0.1:{listening.getsockname()[1]}")
        adapter.prepare()

        failure, seconds = timed(lambda: adapter.complete(a_body(), deadline=within(DEADLINE)))

        assert isinstance(failure, DeadlinePassed)
        assert not failure.seen.outcome_unknown
        assert seconds < DEADLINE + SLACK
        adapter.close()


def test_a_fault_that_lasts_ends_within_the_deadline(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    strict.fail(Status(500), times=None)

    failure, seconds = timed(lambda: adapter.complete(a_body(), deadline=within(DEADLINE)))

    assert isinstance(failure, ServerError)
    assert seconds < DEADLINE + SLACK
    assert 2 <= len(strict.calls) <= 5


@pytest.mark.parametrize("wait", ["60", "86400", "999999999999"])
def test_a_wait_behind_the_deadline_is_not_begun(
    strict: StrictProvider, adapter: AnthropicProvider, wait: str
) -> None:
    strict.fail(Status(429, "rate_limit_error", headers={"retry-after": wait}), times=None)

    failure, seconds = timed(lambda: adapter.complete(a_body(), deadline=within(30)))

    assert isinstance(failure, RateLimited)
    assert failure.seen.retry_after == float(wait)
    assert seconds < 5
    assert len(strict.calls) == 1


def test_a_wait_within_the_deadline_is_kept(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    strict.fail(Status(429, "rate_limit_error", headers={"retry-after": "1"}))

    response = adapter.complete(a_body(), deadline=within(30))

    first, second = strict.calls
    assert second.at - first.at >= 1
    assert response.attempts == 2


def test_an_overload_that_passes_is_not_seen(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    strict.fail(Status(529, "overloaded_error"), times=2)

    response = adapter.complete(a_body(), deadline=within(30))

    assert response.attempts == len(strict.calls) == 3


def test_no_call_starts_behind_its_deadline(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    failure = failure_of(lambda: adapter.complete(a_body(), deadline=within(-1)))

    assert isinstance(failure, DeadlinePassed)
    assert not failure.seen.outcome_unknown
    assert strict.requests == []


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Silence(), id="while nothing comes"),
        pytest.param(PingStorm(), id="while pings come"),
        pytest.param(
            Status(429, "rate_limit_error", headers={"retry-after": "50"}), id="between attempts"
        ),
    ],
)
def test_a_call_is_cancelled_from_another_thread(
    strict: StrictProvider, adapter: AnthropicProvider, fault: Any
) -> None:
    strict.fail(fault)
    asked = Event()

    with ThreadPoolExecutor(1) as pool:
        end = pool.submit(
            timed,
            lambda: adapter.complete(a_body(), deadline=within(60), cancelled=asked.is_set),
        )
        strict.wait_for_calls(1)
        asked.set()
        failure, seconds = end.result()

    assert isinstance(failure, Cancelled)
    assert seconds < SLACK + 2


def test_a_call_that_is_cancelled_before_it_is_sent_is_not_paid_for(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    failure = failure_of(
        lambda: adapter.complete(a_body(), deadline=within(30), cancelled=lambda: True)
    )

    assert isinstance(failure, Cancelled)
    assert not failure.seen.outcome_unknown
    assert strict.requests == []


def test_where_nobody_listens_the_call_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    adapter = AnthropicProvider("key", f"http://127.0.0.1:{port}")
    adapter.prepare()

    failure, seconds = timed(lambda: adapter.complete(a_body(), deadline=within(DEADLINE)))

    assert isinstance(failure, Unreachable)
    assert not failure.seen.outcome_unknown
    assert seconds < DEADLINE + SLACK
    adapter.close()


def test_a_connection_that_was_cut_is_never_used_to_pay_twice(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    for fault, started in ((Cut(after=None), False), (Cut(after=3), True)):
        strict.fail(fault)
        failure = failure_of(lambda: adapter.complete(a_body(), deadline=within(30)))
        assert isinstance(failure, ConnectionLost)
        assert failure.seen.outcome_unknown
        assert failure.seen.started is started
        assert not failure.retryable

    assert len(strict.calls) == 2
