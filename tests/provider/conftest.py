"""A strict provider on loopback, and hango's adapter that calls it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from app.provider.anthropic import AnthropicProvider
from app.provider.failures import ProviderFailure
from tests.fakes.strict_provider import StrictProvider

Body = dict[str, Any]


@pytest.fixture
def strict() -> Iterator[StrictProvider]:
    with StrictProvider() as provider:
        yield provider


@pytest.fixture
def adapter(strict: StrictProvider) -> Iterator[AnthropicProvider]:
    provider = AnthropicProvider("sk-ant-test", strict.url)
    provider.prepare()
    yield provider
    provider.close()


def within(seconds: float) -> float:
    """A deadline that many seconds from now."""
    return time.monotonic() + seconds


def a_body(words: str = "hi", **more: Any) -> Body:
    """A small request to a model that binds its thinking to what precedes it."""
    return {
        "model": "claude-sonnet-5-5",
        "max_tokens": 1000,
        "messages": [{"role": "user", "content": [{"type": "text", "text": words}]}],
        **more,
    }


def then(body: Body, blocks: Any, words: str = "and then?") -> Body:
    """The request that follows an answer."""
    answer = {"role": "assistant", "content": list(blocks)}
    question = {"role": "user", "content": [{"type": "text", "text": words}]}
    return {**body, "messages": [*body["messages"], answer, question]}


def failure_of(call: Callable[[], object]) -> ProviderFailure:
    """The failure that a call ends in."""
    with pytest.raises(ProviderFailure) as caught:
        call()
    return caught.value
