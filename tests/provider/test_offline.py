"""The stand-in that needs nothing: what it says, and that it says what it is."""

from __future__ import annotations

from typing import Any

import pytest

from app.provider.base import TokenCounter
from app.provider.failures import Cancelled, DeadlinePassed
from app.provider.offline import OfflineProvider
from tests.provider.conftest import a_body, within

BODY = a_body(
    "What did you see?",
    system=[{"type": "text", "text": "# Rules\nBe kind."}, {"type": "text", "text": "Remember."}],
    tools=[{"name": "ls", "input_schema": {"type": "object"}}, {"name": "grep"}],
)


def answer_to(body: dict[str, Any]) -> str:
    response = OfflineProvider().complete(body, deadline=within(5))
    return str(response.blocks[0]["text"])


def test_it_says_that_no_model_was_called() -> None:
    response = OfflineProvider().complete(BODY, deadline=within(5))

    assert response.model == "hango-offline"
    assert "No model was called" in response.blocks[0]["text"]


def test_it_tells_what_it_was_given() -> None:
    answer = answer_to(BODY)

    assert "System: 2 blocks." in answer
    assert "# Rules" in answer
    assert "Tools: ls, grep." in answer
    assert "Messages: 1 turn with 1 text block." in answer
    assert answer.endswith("“What did you see?”")


def test_it_shows_that_a_part_was_left_out() -> None:
    assert answer_to(BODY) != answer_to({**BODY, "tools": BODY["tools"][:1]})


def test_the_same_request_has_the_same_answer() -> None:
    first, second = (OfflineProvider().complete(BODY, deadline=within(5)) for _ in range(2))

    assert (first.id, first.blocks, first.usage) == (second.id, second.blocks, second.usage)


def test_its_events_are_those_of_a_model() -> None:
    events: list[Any] = []

    response = OfflineProvider().complete(BODY, deadline=within(5), on_event=events.append)

    said = "".join(event["delta"]["text"] for event in events if "text" in event.get("delta", ()))
    assert [events[0]["type"], events[-1]["type"]] == ["message_start", "message_stop"]
    assert said == response.blocks[0]["text"]


@pytest.mark.parametrize(
    "content", ["plain text", [], [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]]
)
def test_it_answers_whatever_the_conversation_holds(content: Any) -> None:
    assert answer_to(a_body() | {"messages": [{"role": "user", "content": content}]})


def test_it_keeps_to_the_bounds_of_a_call() -> None:
    with pytest.raises(DeadlinePassed):
        OfflineProvider().complete(BODY, deadline=within(-1))
    with pytest.raises(Cancelled):
        OfflineProvider().complete(BODY, deadline=within(5), cancelled=lambda: True)


def test_it_does_not_pretend_to_count() -> None:
    assert not isinstance(OfflineProvider(), TokenCounter)
