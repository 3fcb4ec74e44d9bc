"""Faults of comparable software, as cases of our own: D07, and D10 with a history of tools."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest

from app.provider.anthropic import AnthropicProvider
from tests.engine.conftest import Runs
from tests.engine.test_provider_count import COUNT_TOKENS, asking, totals
from tests.factories import make_session
from tests.fakes.strict_provider import Silence, Status, StrictProvider
from tests.history import assistant, tool_result, user

STRANGE = ["assist.HassTurnOn", "read file", "größe", "a" * 128, "read.file", "josef.name--x"]
ON_THE_WIRE = re.compile(r"[a-zA-Z0-9_-]{1,128}")


def imported(runs: Runs) -> str:
    """A session whose recorded tools have names that the provider refuses."""
    call = {"type": "tool_use", "id": "toolu_1", "name": STRANGE[0], "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "on"}
    recorded = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 1000,
        "tools": [{"name": name, "input_schema": {"type": "object"}} for name in STRANGE],
        "messages": [
            {"role": "user", "content": "Light, please."},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [answer]},
            {"role": "assistant", "content": "It is on."},
        ],
    }
    body = {"name": "recorded.json", "content": json.dumps(recorded)}
    made = runs.alice.post("/v1/imports", json=body)
    assert made.status_code == 201, made.text
    return str(made.json["session_id"])


def tools_of(context: Any, *, included: bool) -> list[str]:
    parts = context["groups"]["tools"]["parts"]
    return [part["id"] for part in parts if part["included"] is included]


def test_strange_names_of_tools_reach_the_provider_as_it_takes_them(
    runs: Runs, strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    """D07: each has a name of its own, by which it is seen, excluded and sent."""
    session = imported(runs)
    path = f"/v1/sessions/{session}"
    agent = runs.alice.get(path).json["agent_id"]
    seen = tools_of(runs.alice.get(f"{path}/context").json, included=True)
    out = next(each for each in seen if "HassTurnOn" in each)
    put = {"overrides": [{"part": out, "action": "exclude"}]}
    saved = runs.alice.put(f"/v1/agents/{agent}/context-overrides", json=put)
    assert saved.status_code == 200, saved.text

    ended = runs.answered(session, adapter)

    assert (ended["status"], strict.refusals) == ("succeeded", [])
    (call,) = strict.calls
    sent = [tool["name"] for tool in call.json["tools"]]
    assert len(sent) == len(set(sent)) == len(seen) - 1 >= len(STRANGE) - 1
    assert all(ON_THE_WIRE.fullmatch(name) for name in sent)
    assert [f"tool:{name}" for name in sent] == [each for each in seen if each != out]
    assert tools_of(runs.alice.get(f"{path}/context").json, included=False) == [out]


@pytest.mark.parametrize(
    "fault",
    [
        Status(400, "invalid_request_error"),
        Status(429, "rate_limit_error"),
        Status(529, "overloaded_error"),
        Silence(),
    ],
    ids=["refused", "limited", "overloaded", "silent"],
)
def test_a_counter_that_fails_is_asked_once_and_for_the_whole(
    runs: Runs, strict: StrictProvider, adapter: AnthropicProvider, fault: Any
) -> None:
    """D10: never part by part, and inspect is answered soon."""
    session = make_session(runs.alice, None, user("hi"), assistant("", "t1"), tool_result("t1"))
    strict.fail(fault, times=None, path=COUNT_TOKENS)
    started = time.monotonic()

    found = totals(asking(runs, adapter), session, count="provider")

    assert time.monotonic() - started < 5
    assert found["counted"] == "estimate"
    (asked,) = strict.requests
    assert len(asked.json["messages"]) == 3
