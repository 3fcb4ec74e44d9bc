"""Thinking that is bound to its prefix: what an edit does to it, on models that bind it."""

from __future__ import annotations

import pytest

from tests.factories import Caller, append, make_agent, make_session
from tests.history import call, text, thinking, tool_result, user

# A turn with thinking before a call and before the answer, and a further question.
TALK = [
    user("look"),
    ("assistant", [thinking("one", "c2lnMQ=="), call("k1")]),
    tool_result("k1"),
    ("assistant", [thinking("two", "c2lnMg=="), text("done")]),
    user("more"),
]


def talk(caller: Caller, model: str = "claude-opus-5-5") -> tuple[str, str]:
    agent = make_agent(caller, model=model)
    session = make_session(caller, agent, TALK[0])
    for turn in TALK[1:]:
        append(caller, session, turn)
    return agent, session


def parts(caller: Caller, session: str):
    groups = caller.get(f"/v1/sessions/{session}/context").json["groups"]
    return {part["id"]: part for part in groups["messages"]["parts"]}


def dropped(caller: Caller, session: str) -> set[str]:
    return {pid for pid, part in parts(caller, session).items() if part.get("thinking_dropped")}


def excluding(*names: str):
    return {"overrides": [{"part": name, "action": "exclude"} for name in names]}


def test_with_nothing_changed_thinking_goes_back(member):
    _, session = talk(member)

    assert dropped(member, session) == set()


def test_appended_in_one_go_it_is_bound_all_the_same(member):
    session = make_session(member, make_agent(member, model="claude-opus-5-5"), *TALK)

    assert dropped(member, session) == set()


@pytest.mark.parametrize(
    ("kind", "part"), [("agents", "system:todo"), ("agents", "tool:read_file")]
)
def test_a_changed_prompt_or_tool_set_loses_all_thinking(member, kind, part):
    agent, session = talk(member)
    before = parts(member, session)

    member.put(f"/v1/{kind}/{agent}/context-overrides", json=excluding(part))

    assert dropped(member, session) == {"message:2", "message:4"}
    after = parts(member, session)
    assert after["message:4"]["tokens"] < before["message:4"]["tokens"]
    assert after["message:4"]["included"] is True


def test_put_tells_whose_thinking_is_lost(member):
    _, session = talk(member)

    reply = member.put(
        f"/v1/sessions/{session}/context-overrides",
        json={"overrides": [{"part": "message:1", "action": "replace", "replacement": "see"}]},
    )

    assert reply.json["thinking_dropped"] == ["message:2", "message:4"]


def test_a_cleared_set_brings_thinking_back_that_no_run_has_left_out(member):
    _, session = talk(member)
    path = f"/v1/sessions/{session}/context-overrides"

    member.put(path, json={"overrides": [{"part": "message:1", "action": "exclude"}]})
    member.put(path, json={"overrides": []})

    assert dropped(member, session) == set()


def test_a_changed_memory_loses_it_too(member):
    agent, session = talk(member)

    member.put(f"/v1/agents/{agent}/memory/memories/AGENTS.md", json={"content": "Be brief."})

    assert dropped(member, session) == {"message:2", "message:4"}


def test_models_that_do_not_bind_thinking_keep_it(member):
    agent, session = talk(member, "claude-sonnet-4-5")

    member.put(f"/v1/agents/{agent}/context-overrides", json=excluding("system:todo"))

    assert dropped(member, session) == set()


def test_a_message_of_nothing_but_lost_thinking_is_not_sent(member):
    agent = make_agent(member, model="claude-opus-5-5")
    session = make_session(member, agent, user("hi"), ("assistant", [thinking()]), user("so?"))

    member.put(f"/v1/agents/{agent}/context-overrides", json=excluding("system:todo"))

    part = parts(member, session)["message:2"]
    assert part["included"] is False
    assert part["thinking_dropped"] is True


def test_stored_messages_keep_their_thinking(member):
    agent, session = talk(member)
    member.put(f"/v1/agents/{agent}/context-overrides", json=excluding("system:todo"))

    stored = member.get(f"/v1/sessions/{session}/messages").json["items"]
    shown = member.get(f"/v1/sessions/{session}/context", query_string={"full": "message:4"}).json

    assert stored[3]["content"] == TALK[3][1]
    assert shown["content"]["content"] == [text("done")]
    assert shown["before"]["content"] == TALK[3][1]


def test_new_thinking_made_under_the_edit_stays(member):
    agent, session = talk(member)
    member.put(f"/v1/agents/{agent}/context-overrides", json=excluding("system:todo"))

    append(member, session, ("assistant", [thinking("three", "c2lnMw=="), text("yes")]))

    assert dropped(member, session) == {"message:2", "message:4"}
