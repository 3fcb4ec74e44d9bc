"""The provider's own count beside the estimate: asked for alone, and never a reason to fail."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.provider.anthropic import AnthropicProvider
from app.provider.offline import OfflineProvider
from app.web import create_app
from tests.engine.conftest import Runs
from tests.factories import Caller, make_session
from tests.fakes.strict_provider import Silence, Status, StrictProvider
from tests.history import assistant, user

COUNT_TOKENS = "/v1/messages/count_tokens"


def asking(runs: Runs, provider: Any) -> Caller:
    """Alice, of a web process with this provider."""
    client = create_app(replace(runs.runtime, provider=provider)).test_client()
    return Caller(runs.alice.principal, runs.alice.key, client)


def totals(caller: Caller, session: str, **query: str) -> Any:
    reply = caller.get(f"/v1/sessions/{session}/context", query_string=query)
    assert reply.status_code == 200, reply.text
    return reply.json["totals"]


@pytest.fixture
def session(runs: Runs) -> str:
    return make_session(runs.alice, None, user("hi"), assistant("hello"), user("and now?"))


def test_the_provider_counts_what_will_be_sent(
    runs: Runs, strict: StrictProvider, adapter: AnthropicProvider, session: str
) -> None:
    caller = asking(runs, adapter)

    found = totals(caller, session, count="provider")

    (asked,) = strict.requests
    assert asked.path.startswith(COUNT_TOKENS)
    assert found["counted"] == "provider"
    assert found["provider_tokens"] > 0
    assert found["not_counted"] is None
    assert found["after"] == totals(caller, session)["after"]
    exclude = {"overrides": [{"part": "message:1", "action": "replace", "replacement": "x " * 999}]}
    runs.alice.put(f"/v1/sessions/{session}/context-overrides", json=exclude)
    assert totals(caller, session, count="provider")["provider_tokens"] > found["provider_tokens"]


def test_nobody_is_asked_unless_somebody_asks(
    runs: Runs, strict: StrictProvider, adapter: AnthropicProvider, session: str
) -> None:
    found = totals(asking(runs, adapter), session)

    assert strict.requests == []
    assert (found["counted"], found["provider_tokens"]) == ("estimate", None)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Silence(), "deadline_passed"),
        (Status(529, "overloaded_error", "Overloaded"), "provider_overloaded"),
        (Status(404, "not_found_error", "no such route"), "provider_not_found"),
    ],
    ids=["silent", "overloaded", "without a counter"],
)
def test_a_provider_that_does_not_count_costs_the_count_alone(
    runs: Runs,
    strict: StrictProvider,
    adapter: AnthropicProvider,
    session: str,
    monkeypatch: pytest.MonkeyPatch,
    fault: Any,
    code: str,
) -> None:
    monkeypatch.setattr("app.services.provider_count.PATIENCE", 0.5)
    strict.fail(fault, times=None, path=COUNT_TOKENS)

    found = totals(asking(runs, adapter), session, count="provider")

    assert (found["counted"], found["provider_tokens"]) == ("estimate", None)
    assert found["not_counted"] == code


def test_what_cannot_be_counted_is_said(runs: Runs, session: str) -> None:
    caller = asking(runs, OfflineProvider())

    assert totals(caller, session, count="provider")["not_counted"] == "not_offered"
    empty = make_session(runs.alice)
    assert totals(caller, empty, count="provider")["not_counted"] == "nothing_to_send"
