"""Each error of the API becomes one code, and none of the provider's words gets out."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from email.utils import formatdate
from typing import Any

import pytest

from app.errors import Failure
from app.provider import failures
from app.provider.anthropic import AnthropicProvider
from app.provider.call import Call, bounded_by
from app.provider.failures import ProviderFailure, from_answer, from_event
from app.provider.sdk import Client
from tests.fakes.strict_provider import (
    Cut,
    EndEarly,
    ErrorEvent,
    Malformed,
    Silence,
    Status,
    StrictProvider,
)
from tests.provider.conftest import a_body, failure_of, within

CANARY = "canary-7f3a"


@pytest.fixture
def single(strict: StrictProvider) -> Iterator[Client]:
    """Sends once, whatever comes of it."""
    client = Client("sk-ant-test", strict.url)
    yield client
    client.close()


ANSWERS = [
    (Status(400, "invalid_request_error"), "provider_refused_request", False),
    (Status(401, "authentication_error"), "provider_refused_key", False),
    (Status(402, "billing_error"), "provider_billing", False),
    (Status(403, "permission_error"), "provider_refused_key", False),
    (Status(404, "not_found_error"), "provider_not_found", False),
    (Status(408, "timeout_error"), "provider_timeout", True),
    (Status(409, "conflict_error"), "provider_error", True),
    (Status(413, "request_too_large"), "provider_prompt_too_long", False),
    (
        Status(429, "rate_limit_error", headers={"retry-after": "9"}),
        "provider_rate_limited",
        True,
    ),
    (Status(429, "rate_limit_error"), "provider_limit_reached", False),
    (Status(500, "api_error"), "provider_error", True),
    (Status(504, "timeout_error"), "provider_timeout", True),
    (Status(529, "overloaded_error"), "provider_overloaded", True),
    (Status(502, body="<html>Bad Gateway</html>"), "provider_error", True),
    (Status(503, body=""), "provider_overloaded", True),
    (Status(418, body="teapot"), "provider_failed", False),
    (Status(302, body="", headers={"location": "/elsewhere"}), "provider_failed", False),
    (
        Status(500, "api_error", headers={"x-should-retry": "false"}),
        "provider_error",
        False,
    ),
    (
        Status(400, "invalid_request_error", headers={"x-should-retry": "true"}),
        "provider_refused_request",
        True,
    ),
]


@pytest.mark.parametrize(
    ("fault", "code", "retryable"), ANSWERS, ids=lambda each: str(getattr(each, "status", each))
)
def test_an_error_answer_has_one_meaning(
    strict: StrictProvider, single: Client, fault: Status, code: str, retryable: bool
) -> None:
    strict.fail(fault)

    with bounded_by(Call(within(30))):
        failure = failure_of(lambda: single.stream(b"{}", None))

    assert (failure.code, failure.retryable) == (code, retryable)
    assert failure.seen.status == fault.status
    assert not failure.seen.outcome_unknown


@pytest.mark.parametrize(
    "words",
    [
        "prompt is too long: 210000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
        "This model's maximum context length is 128000 tokens",
        "Input is too long for requested model.",
        "输入内容过长，超过最大上下文长度",
        "コンテキスト長を超えています",
    ],
)
def test_a_request_that_is_too_long_is_told_by_its_words(words: str) -> None:
    body = {"error": {"type": "invalid_request_error", "message": words}}

    assert isinstance(from_answer(400, {}, body), failures.PromptTooLong)


def test_a_bare_400_is_no_overflow() -> None:
    body = {"error": {"type": "invalid_request_error", "message": "messages.1: no"}}

    assert type(from_answer(400, {}, body)) is failures.RequestRefused


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "-3"}, 0),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e999"}, None),
        ({}, None),
    ],
)
def test_the_wait_that_is_asked_for_is_read_in_every_form(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert from_answer(529, headers, None).seen.retry_after == seconds


def test_a_wait_until_a_date_is_measured_from_now() -> None:
    soon = {"retry-after": formatdate(usegmt=True, timeval=4_000_000_000)}

    assert (from_answer(529, soon, None).seen.retry_after or 0) > 1_000_000


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("overloaded_error", "provider_overloaded"),
        ("api_error", "provider_error"),
        ("rate_limit_error", "provider_rate_limited"),
        ("invalid_request_error", "provider_refused_request"),
        ("a_new_error", "provider_failed"),
    ],
)
def test_an_error_within_a_stream_is_told_by_its_type(kind: str, code: str) -> None:
    event = {"type": "error", "error": {"type": kind, "message": "…"}}

    assert from_event(event, None, started=True).code == code


def test_an_error_before_anything_was_answered_is_tried_again(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    strict.fail(ErrorEvent(after=0))

    response = adapter.complete(a_body(), deadline=within(30))

    assert response.attempts == 2


def test_an_error_after_a_part_was_paid_for_is_not_tried_again(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    strict.fail(ErrorEvent(after=4))

    failure = failure_of(lambda: adapter.complete(a_body(), deadline=within(30)))

    assert failure.code == "provider_overloaded"
    assert not failure.retryable
    assert failure.seen.response_id == strict.calls[0].answer["id"]
    assert failure.seen.usage is not None
    assert len(strict.calls) == 1


def test_an_answer_that_is_a_web_page_is_no_answer(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    strict.fail(Status(200, body="<html>Log in</html>"))

    failure = failure_of(lambda: adapter.complete(a_body(), deadline=within(30)))

    assert failure.code == "provider_stream_broken"


def test_codes_are_different_and_stand_in_the_tree_of_failures() -> None:
    kinds = list(_all(ProviderFailure))

    assert issubclass(ProviderFailure, Failure)
    assert len({kind.code for kind in kinds}) == len(kinds)


ONCE = {"x-should-retry": "false"}
QUOTING = [
    Status(400, "invalid_request_error", f"messages.0: '{CANARY}' is not valid"),
    Status(400, f"{CANARY} error", f"prompt is too long: {CANARY}"),
    Status(500, "api_error", CANARY, error_code=f"code {CANARY}", headers=ONCE),
    Status(500, body=f"<html>{CANARY}</html>", headers=ONCE),
    ErrorEvent(after=4, message=f"while reading {CANARY}"),
    ErrorEvent(after=0, type="invalid_request_error", message=f"quote: {CANARY}"),
    Malformed(data=f'{{"text": "{CANARY}'),
    Malformed(data=f'["{CANARY}"]'),
    Malformed(data=f'{{"type": "content_block_delta", "index": 0, "delta": "{CANARY}"}}'),
    Malformed(data=f'{{"type": "content_block_delta", "index": "{CANARY}", "delta": {{}}}}'),
    Cut(after=4),
    Cut(after=None),
    EndEarly(after=4),
]


@pytest.mark.parametrize("fault", QUOTING, ids=lambda fault: type(fault).__name__)
def test_no_failure_carries_content(
    strict: StrictProvider,
    adapter: AnthropicProvider,
    fault: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG")
    strict.fail(fault)

    failure = failure_of(lambda: adapter.complete(a_body(CANARY), deadline=within(30)))

    assert CANARY in strict.calls[0].body.decode()
    assert CANARY not in told_by(failure) + caplog.text


def test_a_call_that_is_stopped_carries_no_content(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    strict.fail(Silence(after=4))

    failure = failure_of(
        lambda: adapter.complete(
            a_body(CANARY), deadline=within(30), cancelled=lambda: bool(strict.calls)
        )
    )

    assert CANARY not in told_by(failure)


def told_by(failure: ProviderFailure) -> str:
    """All that a log could print of it."""
    return "\n".join([*_everything(failure), *traceback.format_exception(failure)])


def _everything(error: BaseException | None) -> Iterator[str]:
    """An error's own texts, and those of what is chained to it."""
    while error is not None:
        yield from (repr(error), str(error), repr(error.args), repr(vars(error)))
        error = error.__cause__ or error.__context__


def _all(kind: type[ProviderFailure]) -> Iterator[type[ProviderFailure]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _all(child)
