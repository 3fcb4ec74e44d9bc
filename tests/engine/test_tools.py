"""The built-in tools in whole runs, before a provider that refuses what the real one refuses."""

from __future__ import annotations

from app.domain.principals import Role
from app.provider.anthropic import AnthropicProvider
from tests.engine.conftest import Runs
from tests.factories import make_agent, make_caller, make_session
from tests.fakes.strict_provider import StrictProvider, text, thinking, tool_use

BINDING = "claude-sonnet-5-5"  # binds its thinking to the tools, too


def test_a_skill_narrows_the_tools_for_the_rest_of_its_run(
    runs: Runs, strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    agent = make_agent(runs.alice, model=BINDING)
    skill = {
        "description": "How to review.",
        "body": "Read it twice.",
        "allowed_tools": ["read_file", "grep"],
    }
    runs.alice.put(f"/v1/agents/{agent}/skills/review", json=skill)
    overrides = {"overrides": [{"part": "tool:grep", "action": "exclude"}]}
    runs.alice.put(f"/v1/agents/{agent}/context-overrides", json=overrides)
    session = make_session(runs.alice, agent)
    strict.reply(thinking("a"), tool_use("read_skill", "toolu_1", name="review"))
    strict.reply(thinking("b"), tool_use("write_file", "toolu_2", path="/a", content="b"))
    strict.reply(thinking("c"), text("Done."))
    strict.reply(text("Again."))

    run = runs.answered(session, adapter)
    runs.answered(session, adapter, "and again")

    assert (strict.refusals, strict.dropped) == ([], 0)
    assert run["status"] == "succeeded", run
    first, second, third, next_run = [
        {tool["name"] for tool in each.json["tools"]} for each in strict.calls
    ]
    assert second == third == {"read_file", "read_skill"}
    assert first == next_run
    assert first > second
    assert "grep" not in first
    read, refused = (runs.messages(session)[at]["content"][0] for at in (2, 4))
    assert read["content"].endswith("Read it twice.")
    assert refused["is_error"]


def test_memory_of_anothers_shared_agent_is_not_written(
    runs: Runs, strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    tenant = runs.alice.principal.tenant_id
    bob = make_caller(runs.runtime.database, runs.alice.client, tenant, "bob", Role.MEMBER)
    agent = make_agent(bob, shared=True)
    bob.put(f"/v1/agents/{agent}/memory/memories/AGENTS.md", json={"content": "His."})
    session = make_session(runs.alice, agent)
    path = "/memories/AGENTS.md"
    strict.reply(
        tool_use("read_file", "toolu_1", path=path),
        tool_use("write_file", "toolu_2", path=path, content="Hers."),
    )
    strict.reply(text("I cannot."))

    run = runs.answered(session, adapter)

    assert (run["status"], strict.refusals) == ("succeeded", [])
    read, refused = runs.messages(session)[2]["content"]
    assert "His." in read["content"]
    assert refused["is_error"]
    assert "belongs to somebody else" in refused["content"]
    assert bob.get(f"/v1/agents/{agent}/memory/memories/AGENTS.md").json["content"] == "His."
