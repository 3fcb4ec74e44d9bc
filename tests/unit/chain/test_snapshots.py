from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.chain.capture import capture
from app.chain.snapshots import snapshot
from app.chain.stack import Reads, default_chain
from app.domain.catalogue import facts_for
from app.domain.messages import MadeMessage, MessageRef
from app.domain.overrides import NO_OVERRIDES, Override, OverrideSet
from app.domain.ports import Checkpoint, History, MemoryFile, Skill
from app.domain.requests import RunState
from app.domain.validity.request import check_request
from app.provider import wire
from app.tokens.estimator import estimator_for
from tests.history import (
    NOWHERE,
    Pages,
    Shelf,
    Thoughts,
    an_agent,
    assistant,
    prepared,
    refs,
    text,
    tool_result,
    tool_use,
    user,
)

ESTIMATOR = estimator_for("claude-sonnet-4-5")
TALK = [user("hi"), tool_use("t1"), tool_result("t1"), assistant("done"), user("and now?")]
SHELF = Shelf(
    memory=[MemoryFile("/memories/AGENTS.md", "Prefer small steps.", 3, "")],
    skills=[Skill("review", "How to review a change.", "Read it.", None, 1)],
)


class Saved:
    def __init__(self, *overrides: Override) -> None:
        self._set = OverrideSet(overrides) if overrides else NO_OVERRIDES

    def for_run(self, agent_id, session_id):
        return self._set


def captured(turns=TALK, *, agent=None, shelf=SHELF, saved=None, checkpoint=None):
    history = History(checkpoint, refs(turns, ESTIMATOR))
    state = RunState(agent or an_agent(), NOWHERE, history)
    reads = Reads(shelf, saved or Saved(), Thoughts(), Pages(turns, ESTIMATOR))
    chain = default_chain(reads, ESTIMATOR)
    chain.before_run(state)
    return chain.model_call(state, capture)


def body_of(request, turns):
    contents = {seq: each.content for seq, each in enumerate(prepared(turns, ESTIMATOR), start=1)}
    return wire.body(request, contents)


def unjoined(request, turns):
    """The body with each message of its own, as its parts are counted."""
    contents = {seq: each.content for seq, each in enumerate(prepared(turns, ESTIMATOR), start=1)}
    messages = [
        {"role": ref.role, "content": wire.blocks_of(ref, contents)} for ref in request.messages
    ]
    return wire.body(request, contents) | {"messages": messages}


def ids(group):
    return [part.id for part in group.parts]


def test_every_contributor_every_tool_and_every_message_is_a_part():
    groups = snapshot(captured(), ESTIMATOR).groups

    assert ids(groups.system) == [
        "system:agent",
        "system:todo",
        "system:filesystem",
        "system:memory:/memories/AGENTS.md",
        "system:skills",
    ]
    assert ids(groups.tools) == [
        f"tool:{name}"
        for name in (
            "write_todos", "ls", "read_file", "write_file", "edit_file", "glob", "grep",
            "read_skill",
        )
    ]  # fmt: skip
    assert ids(groups.messages) == [f"message:{seq}" for seq in range(1, 6)]


def test_a_part_says_where_it_comes_from():
    memory = next(
        part
        for part in snapshot(captured(), ESTIMATOR).groups.system.parts
        if part.id.startswith("system:memory")
    )

    assert memory.contributor == "memory"
    assert memory.origin == "/memories/AGENTS.md, version 3"
    assert memory.label == "/memories/AGENTS.md"
    assert memory.preview == "Prefer small steps."


def assert_adds_up(turns, request):
    totals = snapshot(request, ESTIMATOR).totals
    groups = snapshot(request, ESTIMATOR).groups
    parts = [*groups.system.parts, *groups.tools.parts, *groups.messages.parts]
    included = sum(part.tokens for part in parts if part.included)
    assert totals.after == included + totals.framing
    assert totals.after == ESTIMATOR.request(unjoined(request, turns))
    assert totals.remaining == totals.window - totals.reserved_output - totals.after


def test_the_parts_add_up_to_the_estimate_of_the_captured_request():
    assert_adds_up(TALK, captured())


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40)


@given(st.lists(TEXTS.filter(str.strip), min_size=1, max_size=8), st.booleans())
@settings(max_examples=40)
def test_whatever_is_said_the_parts_add_up(words, with_call):
    turns = [user(each) if n % 2 == 0 else assistant(each) for n, each in enumerate(words)]
    if with_call:
        turns += [user("go"), tool_use("z1", "z2")]

    assert_adds_up(turns, captured(turns))


def test_the_request_is_valid_for_the_strict_validator():
    for turns in (TALK, TALK[:2], TALK[:4], [user("hi"), tool_use("a", "b"), tool_result("b")]):
        body = body_of(captured(turns), turns)

        assert check_request(body, facts_for("claude-sonnet-4-5")) == []


def test_results_of_parallel_calls_stand_together_before_any_text_on_the_wire():
    turns = [
        user("hi"),
        tool_use("p1", "p2"),
        tool_result("p2"),
        ("user", [text("by the way"), *tool_result("p1")[1]]),
    ]
    request = captured(turns)

    last = body_of(request, turns)["messages"][-1]

    assert [block.get("tool_use_id") for block in last["content"]] == ["p1", "p2", None]
    assert ids(snapshot(request, ESTIMATOR).groups.messages)[-2:] == ["message:3", "message:4"]


def test_nothing_of_hango_is_in_the_body():
    body = body_of(captured(), TALK)

    assert set(body) == {"model", "max_tokens", "tools", "system", "messages"}
    assert all(set(block) <= {"type", "text", "cache_control"} for block in body["system"])


def test_the_cached_prefix_ends_with_the_last_system_block():
    shown = snapshot(captured(), ESTIMATOR)

    assert shown.cache.breakpoint == "system:skills"
    assert all(part.cached_prefix for part in shown.groups.system.parts)
    assert all(part.cached_prefix for part in shown.groups.tools.parts)
    assert not any(part.cached_prefix for part in shown.groups.messages.parts)
    covered = [*shown.groups.system.parts, *shown.groups.tools.parts]
    assert shown.cache.prefix_tokens == sum(part.tokens for part in covered)


def test_the_mark_lands_on_a_block_that_is_sent():
    request = captured(saved=Saved(Override("system:skills", "exclude")))
    shown = snapshot(request, ESTIMATOR)

    assert shown.cache.breakpoint == "system:memory:/memories/AGENTS.md"
    skills = shown.groups.system.parts[-1]
    assert (skills.id, skills.included, skills.cached_prefix) == ("system:skills", False, False)
    marked = [block for block in body_of(request, TALK)["system"] if "cache_control" in block]
    assert len(marked) == 1


def test_without_system_blocks_the_last_tool_is_marked_and_system_is_absent():
    agent = an_agent(system_blocks=(), middleware={"todo": False, "memory": False})
    request = captured(
        agent=agent, shelf=Shelf(), saved=Saved(Override("system:filesystem", "exclude"))
    )
    body = body_of(request, TALK)

    assert "system" not in body
    assert "cache_control" in body["tools"][-1]
    assert snapshot(request, ESTIMATOR).cache.breakpoint == "tool:grep"


def test_an_excluded_tool_is_listed_and_not_sent():
    request = captured(saved=Saved(Override("tool:grep", "exclude")))
    shown = snapshot(request, ESTIMATOR)

    grep = next(part for part in shown.groups.tools.parts if part.id == "tool:grep")
    assert (grep.included, grep.override) == (False, "exclude")
    assert "grep" not in [tool["name"] for tool in body_of(request, TALK)["tools"]]
    assert shown.totals.before - shown.totals.after == grep.tokens


def test_a_replaced_system_part_tells_both_counts():
    request = captured(saved=Saved(Override("system:agent", "replace", "Be brief.")))
    part = snapshot(request, ESTIMATOR).groups.system.parts[0]

    assert part.override == "replace"
    assert part.tokens == ESTIMATOR.system_block("Be brief.").tokens
    assert part.tokens_before == ESTIMATOR.system_block("You are a careful helper.").tokens
    assert part.preview == "Be brief."


def test_naming_built_in_tools_narrows_them():
    agent = an_agent(tools=("read_file", {"name": "deploy", "input_schema": {"type": "object"}}))
    groups = snapshot(captured(agent=agent), ESTIMATOR).groups

    assert ids(groups.tools) == ["tool:deploy", "tool:read_file"]
    assert "system:todo" not in ids(groups.system)


def test_an_agents_own_tool_wins_over_a_built_in_of_the_same_name():
    own = {"name": "grep", "description": "mine", "input_schema": {"type": "object"}}
    tools = snapshot(captured(agent=an_agent(tools=(own,))), ESTIMATOR).groups.tools.parts

    assert [part.preview for part in tools if part.id == "tool:grep"] == ["mine"]


def test_a_forced_tool_that_is_not_sent_falls_back_to_auto():
    agent = an_agent(tool_choice={"type": "tool", "name": "grep"})

    request = captured(agent=agent, saved=Saved(Override("tool:grep", "exclude")))

    assert request.tool_choice == {"type": "auto"}


def test_the_same_request_has_the_same_hash_and_another_one_has_not():
    first = snapshot(captured(), ESTIMATOR).request_sha256

    assert snapshot(captured(), ESTIMATOR).request_sha256 == first
    for other in (
        captured(TALK[:3]),
        captured(agent=an_agent(max_tokens=4097)),
        captured(agent=an_agent(parameters={"stop_sequences": ["x"]})),
        captured(saved=Saved(Override("tool:grep", "exclude"))),
        captured([*TALK[:-1], user("and now!")]),
    ):
        assert snapshot(other, ESTIMATOR).request_sha256 != first


def test_a_history_over_the_trigger_would_be_compacted():
    big = replace(an_agent(), strategy={"trigger": 0.001})

    assert snapshot(captured(agent=big), ESTIMATOR).would_compact is True
    assert snapshot(captured(), ESTIMATOR).would_compact is False


def test_a_checkpoint_puts_its_summary_in_front():
    blocks = [text("They agreed on the plan.")]
    made = MadeMessage("summary", "summary", "compaction of 40 messages", blocks)
    summary = MessageRef(0, "user", 9, "They agreed on the plan.", "0" * 64, "", "", "", made)

    groups = snapshot(captured(checkpoint=Checkpoint(40, summary)), ESTIMATOR).groups

    first = groups.messages.parts[0]
    assert (first.id, first.kind, first.contributor) == ("summary", "summary", "compaction")


def test_a_session_without_messages_is_shown_and_said_not_to_be_sendable():
    shown = snapshot(captured([]), ESTIMATOR)

    assert shown.groups.messages.parts == []
    assert shown.sendable is False


@pytest.mark.parametrize(("turns", "last"), [(TALK[:4], "synthetic:continue")])
def test_what_the_chain_adds_is_listed_and_counted(turns, last):
    shown = snapshot(captured(turns), ESTIMATOR)

    part = shown.groups.messages.parts[-1]
    assert (part.id, part.synthetic) == (last, True)
    assert part.tokens > 0


def test_excluding_the_last_user_message_leaves_a_request_that_ends_on_the_user():
    request = captured(saved=Saved(Override("message:5", "exclude")))
    shown = snapshot(request, ESTIMATOR)

    assert ids(shown.groups.messages)[-2:] == ["message:5", "synthetic:continue"]
    assert check_request(body_of(request, TALK), facts_for("claude-opus-5-5")) == []
