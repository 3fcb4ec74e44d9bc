"""Promise 1: what is sent is what inspect described, byte for byte, whatever the session is like.

Random histories (interrupted and parallel calls, texts of any language) under random overrides go
through a whole run to a provider that refuses what the real one refuses. Thinking, which only the
provider can sign: tests/engine/test_fidelity.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.provider.anthropic import AnthropicProvider
from tests import history
from tests.engine.conftest import Runs, alice, runs
from tests.factories import make_agent, make_session
from tests.fakes.strict_provider import StrictProvider

__all__ = ["alice", "runs"]  # fixtures

EXAMPLES = 20
MODELS = ("claude-sonnet-4-5", "claude-sonnet-5-5")

words = st.text(min_size=1, max_size=40).filter(str.strip)


@st.composite
def sessions(draw: Any) -> list[history.Turn]:
    """A history that could have come about, up to an assistant's turn of any kind."""
    turns = [history.user(draw(words))]
    for number in range(draw(st.integers(0, 4))):
        calls = [f"toolu_{number}_{n}" for n in range(draw(st.integers(0, 3)))]
        said = [history.text(draw(words))] if draw(st.booleans()) or not calls else []
        turns.append(("assistant", [*said, *map(history.call, calls)]))
        if calls:
            turns.append(("user", [history.result(each, draw(words)) for each in calls]))
        else:
            turns.append(history.user(draw(words)))
    if draw(st.booleans()):
        open_calls = draw(st.sampled_from([(), ("a",), ("b", "c")]))
        turns.append(history.assistant(draw(words), *open_calls))
    return turns


@pytest.fixture(scope="module")
def strict() -> Iterator[StrictProvider]:
    with StrictProvider(mode="silent") as provider:
        yield provider


@pytest.fixture(scope="module")
def adapter(strict: StrictProvider) -> Iterator[AnthropicProvider]:
    provider = AnthropicProvider("sk-ant-test", strict.url)
    yield provider
    provider.close()


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(turns=sessions(), model=st.sampled_from(MODELS), said=words, data=st.data())
def test_the_bytes_are_those_that_were_inspected(
    runs: Runs, strict: StrictProvider, adapter: AnthropicProvider,
    turns: list[history.Turn], model: str, said: str, data: st.DataObject,
) -> None:  # fmt: skip
    agent = make_agent(runs.alice, model=model, system_prompt=said)
    session = make_session(runs.alice, agent, *turns)
    for part in data.draw(st.sets(st.integers(1, len(turns)), max_size=2)):
        if data.draw(st.booleans()):
            override = {"part": f"message:{part}", "action": "exclude"}
        else:
            override = {"part": f"message:{part}", "action": "replace", "replacement": said}
        # Refused where nothing that could be sent would be left.
        runs.alice.put(f"/v1/sessions/{session}/context-overrides", json={"overrides": [override]})
    run = runs.begin(session, said)
    path = f"/v1/sessions/{session}/context"
    shown = runs.alice.get(path).json
    listed = {
        name: [
            runs.alice.get(path, query_string={"full": part["id"], "media": 1}).json["content"]
            for part in group["parts"]
            if part["included"]
        ]
        for name, group in shown["groups"].items()
    }
    strict.reset()

    ended = runs.carry_out(run, adapter)

    assert ended["status"] == "succeeded", ended
    assert strict.refusals == []
    (call,) = runs.calls(run)
    assert call["request_sha256"] == shown["request_sha256"]
    body = json.loads(strict.calls[0].body)
    assert unmarked(body.get("system", [])) == unmarked(listed["system"])
    assert unmarked(body.get("tools", [])) == unmarked(listed["tools"])
    assert blocks(body["messages"]) == blocks(listed["messages"])


def blocks(messages: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    """Every block with who says it; within a turn of the user results stand first."""
    found = [(m["role"], json.dumps(b, sort_keys=True)) for m in messages for b in m["content"]]
    return sorted(found)


def unmarked(value: Any) -> Any:
    """Without cache marks, which belong to the request and not to a part."""
    if isinstance(value, list):
        return [unmarked(each) for each in value]
    if isinstance(value, dict):
        return {key: unmarked(each) for key, each in value.items() if key != "cache_control"}
    return value
