"""The adapter against a mock server that somebody else wrote, and that server's verdict on it.

Shared ground of llmock and the strict stand-in is compared here as well, so that the stand-in
does not drift into a dialect of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import pytest
from llmock.pytest_plugin import LLMock

from app.provider.anthropic import AnthropicProvider
from app.provider.failures import (
    ConnectionLost,
    DeadlinePassed,
    RateLimited,
    RequestRefused,
    StreamBroken,
)
from tests.fakes.strict_provider import Status, StrictProvider, tool_use
from tests.provider.conftest import a_body, failure_of, within

TOOL = {
    "name": "get_weather",
    "description": "Tells the weather.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
}


@pytest.fixture
def mocked(llmock: LLMock) -> Iterator[AnthropicProvider]:
    adapter = AnthropicProvider("sk-ant-test", llmock.base_url("anthropic"))
    adapter.prepare()
    yield adapter
    adapter.close()


def test_passing_faults_are_ridden_out_properly(llmock: LLMock, mocked: AnthropicProvider) -> None:
    llmock.rate_limit(times=2, retry_after=0.5)
    llmock.fail(529, times=1)

    response = mocked.complete(a_body(), deadline=within(30))

    assert response.attempts == 4
    llmock.assert_resilient(strict=True)


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_lasting_errors_are_not_tried_again(
    llmock: LLMock, mocked: AnthropicProvider, status: int
) -> None:
    llmock.fail(status, times=None)

    failure_of(lambda: mocked.complete(a_body(), deadline=within(30)))

    assert len(llmock.requests) == 1
    llmock.assert_resilient(strict=True)


def test_a_wait_that_is_too_long_is_respected_by_giving_up(
    llmock: LLMock, mocked: AnthropicProvider
) -> None:
    llmock.rate_limit(times=None, retry_after=60)

    failure = failure_of(lambda: mocked.complete(a_body(), deadline=within(30)))

    assert isinstance(failure, RateLimited)
    llmock.assert_resilient()


@pytest.mark.parametrize(
    ("fault", "kind"),
    [("disconnect", ConnectionLost), ("truncate", StreamBroken), ("corrupt", StreamBroken)],
)
def test_a_broken_stream_is_never_taken_for_an_answer(
    llmock: LLMock, mocked: AnthropicProvider, fault: str, kind: type
) -> None:
    getattr(llmock, fault)(after_chunks=3)

    failure = failure_of(lambda: mocked.complete(a_body(), deadline=within(30)))

    assert isinstance(failure, kind)


def test_a_stalled_stream_is_left(llmock: LLMock, mocked: AnthropicProvider) -> None:
    llmock.stall(after_chunks=3, seconds=10)

    failure = failure_of(lambda: mocked.complete(a_body(), deadline=within(1)))

    assert isinstance(failure, DeadlinePassed)
    llmock.assert_resilient()


def test_a_tool_call_arrives_with_its_arguments(llmock: LLMock, mocked: AnthropicProvider) -> None:
    llmock.call_tool("get_weather", {"city": "Paris"})

    response = mocked.complete(a_body(tools=[TOOL]), deadline=within(30))

    assert response.stop_reason == "tool_use"
    assert response.blocks[-1]["name"] == "get_weather"
    assert response.blocks[-1]["input"] == {"city": "Paris"}


def test_arguments_that_are_no_json_are_marked(llmock: LLMock, mocked: AnthropicProvider) -> None:
    llmock.break_tool_call("malformed_arguments")

    response = mocked.complete(a_body(tools=[TOOL]), deadline=within(30))

    assert list(response.cut_calls) == [response.blocks[-1]["id"]]


def test_both_servers_stream_the_same_events(llmock: LLMock, strict: StrictProvider) -> None:
    llmock.call_tool("get_weather", {"city": "Paris"})
    strict.reply(tool_use("get_weather", city="Paris"))

    theirs = _events(llmock.base_url("anthropic"), tools=[TOOL])
    ours = _events(strict.url, tools=[TOOL])

    assert ours == theirs


def test_both_servers_refuse_in_the_same_shape(llmock: LLMock, strict: StrictProvider) -> None:
    for status, kind in ((429, "rate_limit_error"), (529, "overloaded_error")):
        llmock.fail(status)
        strict.fail(Status(status, kind))

        theirs = _error(llmock.base_url("anthropic"))
        ours = _error(strict.url)

        assert type(ours) is type(theirs)
        assert ours.type == theirs.type == kind
        assert isinstance(theirs.body, dict)
        assert isinstance(ours.body, dict)
        assert theirs.body.keys() <= ours.body.keys()


def test_the_strict_one_refuses_what_the_other_lets_pass(
    llmock: LLMock, strict: StrictProvider, mocked: AnthropicProvider, adapter: AnthropicProvider
) -> None:
    orphan = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}
    body = {**a_body(), "messages": [{"role": "user", "content": [orphan]}]}

    mocked.complete(body, deadline=within(30))
    failure = failure_of(lambda: adapter.complete(body, deadline=within(30)))

    assert isinstance(failure, RequestRefused)
    assert strict.refusals == ["tool_result_orphan"]


def _events(url: str, **more: Any) -> list[tuple[str, ...]]:
    """Types of events, blocks and deltas in order; how text is cut into pieces does not count."""
    with anthropic.Anthropic(api_key="k", base_url=url, max_retries=0) as client:
        seen: list[tuple[str, ...]] = []
        for event in client.messages.create(**a_body(**more), stream=True):
            parts = [event.type]
            for name in ("content_block", "delta"):
                kind = getattr(getattr(event, name, None), "type", None)
                parts += [kind] if kind else []
            if not seen or seen[-1] != tuple(parts):
                seen.append(tuple(parts))
    return seen


def _error(url: str) -> anthropic.APIStatusError:
    with (
        anthropic.Anthropic(api_key="k", base_url=url, max_retries=0) as client,
        pytest.raises(anthropic.APIStatusError) as caught,
    ):
        client.messages.create(**a_body())
    return caught.value
