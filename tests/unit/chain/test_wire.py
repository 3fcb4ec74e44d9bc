"""What leaves for the provider is valid, whatever the doors have let in."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.chain.capture import capture
from app.chain.stack import Reads, default_chain
from app.domain.catalogue import facts_for
from app.domain.completion import complete, excluded_parts, history_faults
from app.domain.overrides import NO_OVERRIDES, Override, OverrideSet
from app.domain.parts import tool_part
from app.domain.ports import History
from app.domain.requests import RunState
from app.domain.validity import betas_for, check_blocks, check_request
from app.domain.validity.history import check_history
from app.provider import wire
from app.tokens.estimator import estimator_for
from tests.history import (
    NOWHERE,
    Pages,
    Shelf,
    Thoughts,
    an_agent,
    assistant,
    call,
    prepared,
    refs,
    result,
    text,
    thinking,
    tool_result,
    tool_use,
    user,
)

MODELS = ["claude-opus-5-5", "claude-sonnet-4-5", "claude-opus-4-8", "somebody-elses-model"]
IMAGE = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
MARK = {"cache_control": {"type": "ephemeral"}}


def refers_to(tool):
    return {"content": [text("found"), {"type": "tool_reference", "tool_name": tool}]}


class Saved:
    def __init__(self, overrides: OverrideSet = NO_OVERRIDES) -> None:
        self._overrides = overrides

    def for_run(self, agent_id, session_id):
        return self._overrides


def body_of(turns, model="claude-opus-5-5", overrides=NO_OVERRIDES):
    estimator = estimator_for(model)
    agent = an_agent(model=model)
    state = RunState(agent, NOWHERE, History(None, refs(turns, estimator)))
    reads = Reads(Shelf(), Saved(overrides), Thoughts(), Pages(turns, estimator))
    chain = default_chain(reads, estimator)
    chain.before_run(state)
    request = chain.model_call(state, capture)
    contents = {seq: m.content for seq, m in enumerate(prepared(turns, estimator), start=1)}
    return wire.body(request, contents)


def faults_of(body):
    return check_request(body, facts_for(body["model"]), betas_for(body))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "turns",
    [
        pytest.param(
            [user("hi"), tool_use("a"), ("user", [text("wait"), result("a")])], id="text first"
        ),
        pytest.param(
            [
                user("hi"),
                tool_use("a"),
                ("user", [result("a") | {"content": [text("no"), IMAGE], "is_error": True}]),
            ],
            id="an image in a failed result",
        ),
        pytest.param(
            [user("hi"), ("assistant", [text("x"), thinking()]), user("go on")],
            id="thinking at the end of a turn",
        ),
        pytest.param(
            [user("hi"), ("assistant", [thinking()]), user("go on")], id="nothing but thinking"
        ),
        pytest.param(
            [user("hi"), ("system", [text("Be brief.")]), assistant("ok"), user("more")],
            id="a system message in its place",
        ),
        pytest.param(
            [user("hi"), ("system", [text("Be brief.")]), user("more")],
            id="a system message between messages of the user",
        ),
        pytest.param(
            [user("hi"), tool_use("a"), ("system", [text("Quick.")]), tool_result("a")],
            id="a system message between a call and its result",
        ),
        pytest.param(
            [("user", [text(str(n)) | MARK for n in range(7)])], id="more cache marks than four"
        ),
        pytest.param(
            [user("hi"), tool_use("a"), ("user", [result("a") | MARK])], id="a marked result"
        ),
        pytest.param(
            [user("hi"), tool_use("a"), ("user", [result("a") | refers_to("gone")])],
            id="a reference to a tool that is not there",
        ),
    ],
)
def test_what_a_door_lets_in_is_repaired_on_the_way_out(turns, model):
    assert faults_of(body_of(turns, model)) == []


def test_a_tool_that_a_result_refers_to_can_be_excluded():
    turns = [user("hi"), tool_use("a"), ("user", [result("a") | refers_to("glob")])]
    exclude = OverrideSet([Override(tool_part("glob"), "exclude")])

    (found,) = body_of(turns)["messages"][2]["content"]
    (lost,) = body_of(turns, overrides=exclude)["messages"][2]["content"]

    assert found["content"][1] == {"type": "tool_reference", "tool_name": "glob"}
    assert lost["content"][1] == {"type": "text", "text": "[tool reference: glob]"}


def test_a_result_repeats_the_toolset_of_its_call():
    turns = [
        user("hi"),
        ("assistant", [call("a") | {"toolset_name": "computer"}]),
        tool_result("a"),
    ]

    last = body_of(turns)["messages"][-1]["content"][0]

    assert last["toolset_name"] == "computer"


@st.composite
def conversations(draw):
    """Whatever a door would accept: rows cut anyhow, results late, failed, missing at the end."""
    turns, ids = [], 0

    def row(role, *blocks):
        turns.append((role, list(blocks)))

    row("user", text("start"))
    for _ in range(draw(st.integers(0, 6))):
        calls = [f"t{ids + n}" for n in range(draw(st.integers(0, 3)))]
        ids += len(calls)
        thoughts = [thinking()] if draw(st.booleans()) else []
        words = [text("so")] if draw(st.booleans()) or not calls else []
        row("assistant", *thoughts, *words, *map(call, calls))
        results = draw(st.permutations(calls))
        while results:
            size = draw(st.integers(1, len(results)))
            failed = draw(st.booleans())
            blocks = [result(each) | ({"is_error": True} if failed else {}) for each in results]
            said = [text("by the way")] if draw(st.booleans()) and size == len(results) else []
            row("user", *blocks[:size], *said)
            results = results[size:]
        if not calls or draw(st.booleans()):
            row("user", text("go on"))
        if draw(st.booleans()):
            row("user", text("and"), IMAGE)
    if draw(st.booleans()):
        row("assistant", *map(call, [f"e{n}" for n in range(draw(st.integers(1, 3)))]))
    return turns


@given(conversations(), st.data(), st.sampled_from(MODELS))
@settings(max_examples=150, deadline=None)
def test_whatever_is_excluded_and_replaced_the_request_is_valid(turns, data, model):
    estimator = estimator_for(model)
    messages = refs(turns, estimator)
    for role, blocks in turns:
        assert check_blocks(role, blocks, "content") == []
    assert check_history(messages, open_end=True) == []
    parts = [each.part for each in messages]
    out = data.draw(st.lists(st.sampled_from(parts), unique=True, max_size=6))
    changed = data.draw(st.lists(st.sampled_from(parts), unique=True, max_size=3))
    single = {each.part for each in messages if " " not in each.tool_result_ids}
    wanted = [Override(part, "exclude") for part in out] + [
        Override(part, "replace", "short") for part in changed if part not in out and part in single
    ]
    completed = complete(wanted, messages)
    if history_faults(completed, messages):
        return

    body = body_of(turns, model, OverrideSet(completed.overrides))

    assert faults_of(body) == []
    sent = str(body["messages"])
    for ref in messages:
        if ref.part in excluded_parts(completed.overrides):
            assert not any(f"'{each}'" in sent for each in ref.tool_use_ids.split())


def captured_by(turns, model="claude-opus-5-5"):
    estimator = estimator_for(model)
    state = RunState(an_agent(model=model), NOWHERE, History(None, refs(turns, estimator)))
    chain = default_chain(Reads(Shelf(), Saved(), Thoughts(), Pages(turns, estimator)), estimator)
    chain.before_run(state)
    return chain.model_call(state, capture)


@pytest.mark.parametrize(
    "turns",
    [
        [
            user("hi"),
            tool_use("a"),
            ("user", [result("a") | {"content": [text("no"), IMAGE], "is_error": True}]),
        ],
        [user("hi"), ("assistant", [text("x"), thinking()]), user("go on")],
        [("user", [text(str(n)) | MARK for n in range(7)])],
        [user("hi"), tool_use("a"), ("user", [result("a") | MARK])],
        [user("hi"), tool_use("a"), ("user", [result("a") | refers_to("gone")])],
    ],
    ids=["failed result", "thinking last", "cache marks", "marked result", "tool not there"],
)
def test_what_is_put_right_is_what_the_parts_describe(turns):
    request = captured_by(turns, "claude-opus-4-8")
    estimator = estimator_for("claude-opus-4-8")
    contents = {seq: m.content for seq, m in enumerate(prepared(turns, estimator), start=1)}
    described = [wire.blocks_of(ref, contents) for ref in request.messages]

    body = wire.body(request, contents)

    assert [turn["content"] for turn in body["messages"]] == described
    counted = [
        estimator.message(ref.role, blocks).tokens
        for ref, blocks in zip(request.messages, described, strict=True)
    ]
    assert [ref.tokens for ref in request.messages] == counted
