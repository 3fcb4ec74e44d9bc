"""The fakes that need no server keep to the protocol that they stand in for."""

from __future__ import annotations

from typing import Any

import pytest

from app.provider.base import Provider, TokenCounter
from app.provider.failures import Overloaded
from tests.fakes.providers import ExplodingProvider, ScriptedProvider
from tests.fakes.strict_provider import Reply, text, tool_use
from tests.provider.conftest import a_body, failure_of, within


def test_the_scripted_one_answers_in_order_and_keeps_what_it_was_sent() -> None:
    provider = ScriptedProvider(Reply(blocks=[text("a"), tool_use("ls")]), Overloaded())
    typed: Provider = provider
    events: list[Any] = []

    answer = typed.complete(a_body(), deadline=within(5), on_event=events.append)
    failure = failure_of(lambda: typed.complete(a_body("more"), deadline=within(5)))

    assert list(answer.blocks) == [text("a"), tool_use("ls", "toolu_1_1")]
    assert answer.stop_reason == "tool_use"
    assert events[-1]["type"] == "message_stop"
    assert isinstance(failure, Overloaded)
    assert provider.sent == [a_body(), a_body("more")]


def test_the_exploding_one_fails_whoever_uses_it() -> None:
    provider = ExplodingProvider()

    assert isinstance(provider, TokenCounter)
    for use in (provider.complete, provider.count_tokens):
        with pytest.raises(AssertionError, match="a provider was"):
            use(a_body(), deadline=within(5))
