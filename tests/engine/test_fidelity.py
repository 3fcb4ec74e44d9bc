"""Sent is what was inspected: hashes before and after, and the bytes at a strict provider."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.provider.anthropic import AnthropicProvider
from tests import history
from tests.engine.conftest import Runs, says
from tests.factories import make_agent, make_session
from tests.fakes.strict_provider import Cut, Status, StrictProvider, text, thinking, tool_use
from tests.history import assistant, user

BINDING = "claude-sonnet-5-5"  # binds its thinking to what stands before it


def inspected(runs: Runs, session: str) -> Any:
    return runs.alice.get(f"/v1/sessions/{session}/context").json


def override(runs: Runs, target: str, *overrides: dict[str, str]) -> None:
    put = runs.alice.put(f"/v1/{target}/context-overrides", json={"overrides": list(overrides)})
    assert put.status_code == 200, put.text


def excluding(part: str) -> dict[str, str]:
    return {"part": part, "action": "exclude"}


def replacing(part: str, words: str) -> dict[str, str]:
    return {"part": part, "action": "replace", "replacement": words}


def in_full(runs: Runs, session: str, part: str) -> Any:
    reply = runs.alice.get(f"/v1/sessions/{session}/context?full={part}&media=1")
    assert reply.status_code == 200, reply.text
    return reply.json["content"]


def sent_as_listed(runs: Runs, session: str, shown: Any) -> dict[str, Any]:
    """The parts that inspect lists as included, as they would be sent."""
    groups = shown["groups"]
    return {
        name: [in_full(runs, session, p["id"]) for p in groups[name]["parts"] if p["included"]]
        for name in groups
    }


def unmarked(value: Any) -> Any:
    """Without cache marks, which belong to the request and not to a part."""
    if isinstance(value, list):
        return [unmarked(each) for each in value]
    if isinstance(value, dict):
        return {key: unmarked(each) for key, each in value.items() if key != "cache_control"}
    return value


def turns(messages: list[dict[str, Any]]) -> list[tuple[str, list[Any]]]:
    """Messages as the provider joins them."""
    joined: list[tuple[str, list[Any]]] = []
    for each in messages:
        if joined and joined[-1][0] == each["role"]:
            joined[-1][1].extend(each["content"])
        else:
            joined.append((each["role"], list(each["content"])))
    return joined


def test_sent_is_what_was_inspected(
    runs: Runs, strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    agent = make_agent(runs.alice, system_prompt="Be brief.", model=BINDING)
    path = f"/v1/agents/{agent}/memory/memories/a.md"
    assert runs.alice.put(path, json={"content": "Ünïcode \u2028 \U0001f600"}).status_code == 200
    session = make_session(
        runs.alice, agent, user("one"), assistant("Yes."), user("leave me out"),
        assistant("And me."), user("two"), history.tool_use("toolu_1", "toolu_2"),
    )  # fmt: skip
    override(runs, f"agents/{agent}", replacing("system:agent", "Be long."))
    override(runs, f"sessions/{session}", excluding("message:3"), replacing("message:2", "No."))
    run = runs.begin(session, "three")
    before = inspected(runs, session)
    listed = sent_as_listed(runs, session, before)

    ended = runs.carry_out(run, adapter)

    assert ended["status"] == "succeeded", ended
    assert strict.refusals == []
    (call,) = runs.calls(run)
    assert call["request_sha256"] == before["request_sha256"]
    assert call["estimated_tokens"] == before["totals"]["after"]
    body = json.loads(strict.calls[0].body)
    assert unmarked(body["system"]) == unmarked(listed["system"])
    assert unmarked(body["tools"]) == unmarked(listed["tools"])
    assert [(m["role"], m["content"]) for m in body["messages"]] == turns(listed["messages"])


def test_what_a_call_saw_is_kept_by_part_and_without_words(
    runs: Runs, adapter: AnthropicProvider
) -> None:
    session = make_session(runs.alice, None, user("canary-4711"), assistant("canary-4711"))
    override(runs, f"sessions/{session}", replacing("message:2", "canary-4711, replaced"))
    run = runs.begin(session, "hello canary-4711")
    shown = inspected(runs, session)
    listed = [part for group in shown["groups"].values() for part in group["parts"]]

    runs.carry_out(run, adapter)

    call = runs.alice.get(f"/v1/runs/{run}/calls/1")
    names = ("id", "kind", "sha256", "tokens", "included", "override", "unavailable")
    assert call.json["parts"] == [{name: part.get(name) for name in names} for part in listed]
    assert "canary" not in call.text


def test_two_calls_are_compared(
    runs: Runs, strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    session = make_session(runs.alice)
    strict.reply(tool_use("nothing", "toolu_1"))
    strict.reply(text("Done."))
    run = runs.answered(session, adapter)

    diff = runs.alice.get(f"/v1/runs/{run['id']}/calls/1/diff/2").json

    assert [part["id"] for part in diff["added"]] == ["message:2", "message:3"]
    assert (diff["removed"], diff["changed"]) == ([], [])
    assert diff["before_sha256"] != diff["after_sha256"]
    assert runs.alice.get(f"/v1/runs/{run['id']}/calls/1/diff/3").status_code == 404


def test_a_call_costs_what_the_price_list_says(
    runs: Runs, strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    usage = {
        "input_tokens": 1_000_000, "output_tokens": 100_000,
        "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0,
    }  # fmt: skip
    strict.reply(text("Dear."), usage=usage)

    run = runs.answered(make_session(runs.alice), adapter)  # Sonnet 4.5: $3 and $15 a million

    (call,) = runs.calls(run["id"])
    assert call["price_version"].startswith("genai-prices/")
    assert call["cost_micro_dollars"] == run["usage"]["cost_micro_dollars"] > 4_400_000
    assert (run["usage"]["input_tokens"], call["output_tokens"]) == (1_000_000, 100_000)


class TestThinking:
    """On a model that binds thinking to its prefix, and a provider that checks it."""

    @pytest.fixture
    def session(self, runs: Runs) -> str:
        return make_session(runs.alice, make_agent(runs.alice, model=BINDING))

    def test_it_goes_back_within_a_turn_and_with_the_next_run(
        self, runs: Runs, strict: StrictProvider, adapter: AnthropicProvider, session: str
    ) -> None:
        strict.reply(thinking("a"), tool_use("nothing", "toolu_1"))
        strict.reply(thinking("b"), text("Done."))

        runs.answered(session, adapter)
        runs.answered(session, adapter, "and now?")

        assert (strict.refusals, strict.dropped) == ([], 0)
        assert [_thoughts(each.json) for each in strict.calls] == [[], ["a"], ["a", "b"]]

    def test_what_a_run_left_out_never_comes_back(
        self, runs: Runs, strict: StrictProvider, adapter: AnthropicProvider, session: str
    ) -> None:
        strict.reply(thinking("a"), text("One."))
        strict.reply(text("Two."))  # no new thinking that would keep the old one away
        runs.answered(session, adapter, "first")
        override(runs, f"sessions/{session}", replacing("message:1", "another"))
        runs.answered(session, adapter, "second")
        override(runs, f"sessions/{session}")

        runs.answered(session, adapter, "third")
        runs.answered(session, adapter, "fourth")

        assert (strict.refusals, strict.dropped) == ([], 0)
        sent = [_thoughts(each.json) for each in strict.calls]
        assert sent == [[], [], [], ["Let me see."]]

    def test_refused_thinking_is_left_out_and_the_call_made_again_once(
        self, runs: Runs, strict: StrictProvider, adapter: AnthropicProvider, session: str
    ) -> None:
        strict.reply(thinking("a"), text("One."))
        runs.answered(session, adapter, "first")
        words = "messages.1.content.0: Invalid `signature` in `thinking` block"
        strict.fail(Status(400, "invalid_request_error", words))

        run = runs.answered(session, adapter, "second")

        assert run["status"] == "succeeded", run
        assert [each["outcome"] for each in runs.calls(run["id"])] == ["failed", "succeeded"]
        assert [_thoughts(each.json) for each in strict.calls] == [[], ["a"], []]

    def test_what_hango_misjudges_costs_the_thinking_and_not_the_call(
        self,
        runs: Runs,
        strict: StrictProvider,
        adapter: AnthropicProvider,
        session: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        strict.reply(thinking("a"), text("One."))
        strict.reply(thinking("b"), text("Two."))
        runs.answered(session, adapter, "first")
        agent = inspected(runs, session)["agent_id"]
        runs.alice.patch(f"/v1/agents/{agent}", json={"system_prompt": "Another."})
        with monkeypatch.context() as wrong:
            wrong.setattr(
                "app.chain.thinking.sendable", lambda all_, *_, **__: {e.seq for e in all_}
            )
            run = runs.answered(session, adapter, "second")

        runs.answered(session, adapter, "third")

        assert run["status"] == "succeeded", run
        assert (strict.refusals, strict.dropped) == ([], 1)
        assert [each["thinking_left_out"] for each in runs.calls(run["id"])] == [1]
        # What the provider has left out is not sent again; what was made without it is.
        assert [_thoughts(each.json) for each in strict.calls] == [[], ["a"], ["b"]]

    def test_a_run_goes_by_what_it_began_with(
        self, runs: Runs, strict: StrictProvider, adapter: AnthropicProvider, session: str
    ) -> None:
        """An override, a memory and another prompt that come between two turns act later."""
        run = runs.begin(session, "go")

        def script(_body: Any) -> Any:
            if len(strict.calls) == 1:
                agent = inspected(runs, session)["agent_id"]
                memory = f"/v1/agents/{agent}/memory/memories/new.md"
                assert runs.alice.put(memory, json={"content": "new"}).status_code == 200
                changed = runs.alice.patch(f"/v1/agents/{agent}", json={"system_prompt": "New."})
                assert changed.status_code == 200
                return says(thinking("a"), tool_use("nothing", "toolu_1"))
            return says(text("Done."))

        strict.answer_by(script)

        assert runs.carry_out(run, adapter)["status"] == "succeeded"

        first, second = (each.json for each in strict.calls)
        assert first["system"] == second["system"]
        assert _thoughts(second) == ["a"]


def test_a_cut_connection_is_not_tried_again(
    runs: Runs, strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    strict.fail(Cut(after=3))

    run = runs.answered(make_session(runs.alice), adapter)

    assert (run["status"], run["error"]["code"]) == ("failed", "provider_connection_lost")
    assert len(strict.calls) == 1
    (call,) = runs.calls(run["id"])
    assert call["input_tokens"] > 0  # as far as the provider had told


def _all_of_them(thoughts: Any, *_: Any, **__: Any) -> set[int]:
    return {each.seq for each in thoughts}


def _thoughts(body: Any) -> list[str]:
    return [
        block["thinking"]
        for message in body["messages"]
        for block in message["content"]
        if block["type"] == "thinking"
    ]
