from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from app.domain.parts import parse_part
from tests.api.override_sets import (
    SPREAD,
    TALK,
    by_id,
    context,
    excluding,
    parts_of,
    put,
    replacing,
    url,
)
from tests.factories import Caller, append, make_agent, make_session
from tests.history import assistant, call, result, text, thinking, tool_result, tool_use, user


@pytest.mark.parametrize(
    ("wanted", "added"),
    [
        ("message:3", {"message:2", "message:4"}),
        ("message:4", {"message:2", "message:3"}),
        ("message:2", {"message:3", "message:4"}),
    ],
)
def test_a_group_of_parallel_calls_leaves_as_a_whole(member, wanted, added):
    session = make_session(member, None, *SPREAD)

    reply = put(member, session, excluding(wanted))

    assert reply.status_code == 200, reply.text
    assert {each["part"] for each in reply.json["added"]} == added
    assert all(each["goes_with"] and each["call"] for each in reply.json["added"])
    listed = by_id(context(member, session))
    left = [part for part, each in listed.items() if part[:7] == "message" and each["included"]]
    assert left == ["message:1", "message:5", "message:6"]
    assert set(listed["message:3"]["paired_with"]) == {"message:2"}


def test_a_replacement_that_leaves_with_its_call_is_named(member):
    session = make_session(member, None, *SPREAD)
    replaced = {"part": "message:3", "action": "replace", "replacement": "shorter"}
    put(member, session, {"overrides": [replaced]})

    body = {"overrides": [replaced, {"part": "message:2", "action": "exclude"}]}
    reply = put(member, session, body)

    lost = {each["part"] for each in reply.json["added"] if each["replacement_lost"]}
    assert lost == {"message:3"}


def test_what_get_answers_can_be_put_again_and_changes_nothing(member):
    session = make_session(member, None, *SPREAD)
    first = put(member, session, excluding("message:3"))
    got = member.get(url(session))

    again = put(member, session, got.json)

    assert again.json["added"] == []
    assert again.json["overrides"] == got.json["overrides"] == first.json["overrides"]
    assert again.headers["ETag"] == got.headers["ETag"] == first.headers["ETag"]


def test_an_excluded_message_stays_stored(member):
    session = make_session(member, None, *TALK)

    put(member, session, excluding("message:5"))

    stored = member.get(f"/v1/sessions/{session}/messages").json["items"]
    assert [each["seq"] for each in stored] == [1, 2, 3, 4, 5]
    assert by_id(context(member, session))["message:5"]["included"] is False


def test_totals_tell_before_and_after(member):
    session = make_session(member, None, *TALK)
    plain = context(member, session)["totals"]

    put(member, session, excluding("message:4"))
    shown = context(member, session)

    gone = by_id(shown)["message:4"]["tokens"]
    assert shown["totals"]["before"] == plain["after"]
    assert shown["totals"]["after"] == plain["after"] - gone
    assert shown["overrides"] == {"active": 1, "stale": 0}


def test_the_same_set_twice_then_another_action_then_nothing(member):
    session = make_session(member, None, *TALK)

    assert put(member, session, excluding("message:1", "message:1")).status_code == 422
    assert put(member, session, excluding("message:5")).status_code == 200
    assert put(member, session, excluding("message:5")).status_code == 200
    changed = put(member, session, replacing("message:5", "shorter"))
    assert changed.status_code == 200
    assert [each["action"] for each in changed.json["overrides"]] == ["replace"]
    assert put(member, session, {"overrides": []}).status_code == 200
    assert member.get(url(session)).json["overrides"] == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (excluding("message:07"), "bad_part"),
        (excluding("message:٤٢"), "bad_part"),
        (excluding("message: 7"), "bad_part"),
        (excluding("message:99999999999999999999999"), "bad_part"),
        (excluding("summary "), "bad_part"),
        (excluding("tool:read_file"), "wrong_target"),
        (excluding("message:1", "message:1"), "duplicate_part"),
        (excluding("message:1"), "starts_with_assistant"),
        (excluding("message:1", "message:3", "message:5"), "no_user_message"),
        (replacing("message:1", "  \n"), "empty_replacement"),
        (replacing("message:1", "\u200b"), "empty_replacement"),
        (replacing("message:1", "x" * 600_000), "replacement_too_large"),
    ],
)
def test_a_set_that_cannot_be_stored_is_refused_with_its_code(member, body, code):
    session = make_session(member, None, *TALK)
    put(member, session, excluding("message:4"))

    reply = put(member, session, body)

    assert reply.status_code == 422
    assert reply.json["code"] == "overrides_refused"
    assert {fault["code"] for fault in reply.json["errors"]} == {code}
    assert parts_of(member.get(url(session))) == {"message:4"}


@pytest.mark.parametrize(
    "body",
    [
        replacing("message:1", None),
        replacing("message:1", 5),
        {"overrides": [{"part": "message:1", "action": "replace"}]},
        {"overrides": [{"part": "message:1", "action": "exclude", "replacement": "x"}]},
        {"overrides": [{"part": "message:1", "action": "hide"}]},
        {"overrides": [{"part": 5, "action": "exclude"}]},
        {"overrides": [{"action": "exclude"}]},
        {"overrides": {}},
        {"overrides": [None]},
        {"overrides": [], "surprise": 1},
        {},
        [],
        "x",
    ],
)
def test_a_body_of_the_wrong_shape_is_refused_and_nothing_is_stored(member, body):
    session = make_session(member, None, *TALK)
    put(member, session, excluding("message:4"))

    reply = put(member, session, body)

    assert reply.status_code == 422, reply.text
    assert reply.json["code"] == "bad_body"
    assert parts_of(member.get(url(session))) == {"message:4"}


def test_beside_a_refusal_stands_the_edit_that_would_do(member):
    session = make_session(member, None, *TALK)

    refused = put(member, session, excluding("message:1"))
    body = {"overrides": refused.json["alternatives"]}

    assert body == replacing("message:1", "[left out]")
    assert put(member, session, body).status_code == 200


def test_a_message_with_several_results_is_not_replaced(member):
    turns = [user("hi"), tool_use("a", "b"), ("user", [result("a"), result("b")])]
    session = make_session(member, None, *turns)

    reply = put(member, session, replacing("message:3", "short"))

    assert [fault["code"] for fault in reply.json["errors"]] == ["ambiguous_replacement"]


def test_a_replacement_changes_the_text_and_keeps_the_structure(member):
    turns = [user("hi"), ("assistant", [thinking(), text("I look"), call("k1")]), tool_result("k1")]
    session = make_session(member, None, *turns)

    put(
        member,
        session,
        {
            "overrides": [
                *replacing("message:2", "short")["overrides"],
                *replacing("message:3", "[left out]")["overrides"],
            ]
        },
    )

    def full(part, **query):
        path = f"/v1/sessions/{session}/context"
        return member.get(path, query_string={"full": part, **query}).json

    assert full("message:2")["content"]["content"] == [thinking(), text("short"), call("k1")]
    assert full("message:3")["content"]["content"] == [result("k1", "[left out]")]
    assert full("message:3")["before"]["content"] == [result("k1")]
    assert full("message:3", view="before")["content"]["content"] == [result("k1")]
    part = by_id(context(member, session))["message:3"]
    assert part["override"] == "replace"
    assert part["preview"] == "[tool_result for read_file] [left out]"
    assert part["tokens_before"] != part["tokens"]


def test_stored_texts_are_cleaned(member):
    session = make_session(member, None, *TALK)

    body = (
        '{"overrides": [{"part": "message:1", "action": "replace",'
        ' "replacement": "a\\u0000b \\ud83d c"}]}'
    )

    reply = member.put(url(session), data=body, content_type="application/json")

    assert reply.status_code == 200, reply.text
    assert reply.json["overrides"][0]["replacement"] == "a\ufffdb \ufffd c"


def test_an_absent_part_is_kept_and_told_to_be_stale(member):
    session = make_session(member, None, *TALK)

    assert put(member, session, excluding("message:6")).status_code == 200
    stale = context(member, session)
    append(member, session, assistant("new"))
    back = context(member, session)

    assert stale["overrides"] == {"active": 0, "stale": 1}
    assert by_id(stale)["message:6"]["stale"] is True
    assert stale["totals"]["before"] == stale["totals"]["after"]
    assert back["overrides"] == {"active": 1, "stale": 0}
    assert by_id(back)["message:6"]["included"] is False


def test_a_set_that_later_messages_break_is_suspended_as_a_whole(member):
    session = make_session(member, None, user("hi"), tool_use("t1"))
    assert put(member, session, excluding("message:2")).status_code == 200
    append(member, session, tool_result("t1"), assistant("done"))

    shown = context(member, session)

    assert shown["overrides"]["suspended"] == "tool_result_orphan"
    assert shown["overrides"]["suspended_at"] == "message:3"
    assert by_id(shown)["message:2"]["included"] is True
    assert shown["totals"]["before"] == shown["totals"]["after"]


def test_an_agents_parts_leave_every_session_of_it(member):
    agent = make_agent(member)
    sessions = [make_session(member, agent, user("hi")) for _ in range(2)]

    reply = put(member, agent, excluding("system:todo", "tool:write_todos"), "agents")

    assert reply.status_code == 200, reply.text
    for session in sessions:
        shown = by_id(context(member, session))
        assert shown["system:todo"]["included"] is False
        assert shown["tool:write_todos"]["included"] is False


def test_an_agent_takes_no_message_and_replaces_no_tool(member):
    agent = make_agent(member)
    wanted = {
        "overrides": [
            {"part": "message:1", "action": "exclude"},
            {"part": "summary", "action": "exclude"},
            {"part": "tool:grep", "action": "replace", "replacement": "x"},
        ]
    }

    reply = put(member, agent, wanted, "agents")

    assert [(fault["at"], fault["code"]) for fault in reply.json["errors"]] == [
        ("overrides[0]", "wrong_target"),
        ("overrides[1]", "wrong_target"),
        ("overrides[2]", "tool_replace"),
    ]


def test_a_replaced_prompt_whose_original_changes_says_so(member):
    agent = make_agent(member, system_prompt="Help.")
    session = make_session(member, agent, user("hi"))
    put(member, agent, replacing("system:agent", "Be brief."), "agents")
    assert "base_changed" not in by_id(context(member, session))["system:agent"]

    member.patch(f"/v1/agents/{agent}", json={"system_prompt": "Help a lot."})
    shown = context(member, session)

    assert by_id(shown)["system:agent"]["base_changed"] is True
    assert by_id(shown)["system:agent"]["preview"] == "Be brief."
    assert shown["overrides"]["base_changed"] == 1


def test_a_replacement_can_be_kept_although_its_original_changed(member):
    agent = make_agent(member, system_prompt="Help.")
    session = make_session(member, agent, user("hi"))
    put(member, agent, replacing("system:agent", "Be brief."), "agents")
    member.patch(f"/v1/agents/{agent}", json={"system_prompt": "Help a lot."})
    (kept,) = member.get(url(agent, "agents")).json["overrides"]

    put(member, agent, {"overrides": [kept]}, "agents")
    assert context(member, session)["overrides"]["base_changed"] == 1
    reply = put(member, agent, {"overrides": [kept | {"base": "current"}]}, "agents")

    assert reply.status_code == 200, reply.text
    shown = context(member, session)
    assert "base_changed" not in shown["overrides"]
    assert by_id(shown)["system:agent"]["preview"] == "Be brief."


def test_if_match_turns_a_lost_update_into_a_412(member):
    session = make_session(member, None, *TALK)
    etag = member.get(url(session)).headers["ETag"]

    first = put(member, session, excluding("message:4"), headers={"If-Match": etag})
    second = put(member, session, excluding("message:5"), headers={"If-Match": etag})

    assert first.status_code == 200
    assert second.status_code == 412
    assert parts_of(member.get(url(session))) == {"message:4"}
    fresh = {"If-Match": first.headers["ETag"]}
    assert put(member, session, excluding("message:5"), headers=fresh).status_code == 200


@pytest.mark.committed
def test_of_two_puts_at_once_one_set_is_stored_whole(app, member):
    session = make_session(member, None, *TALK, assistant("x"), user("y"))
    bodies = [excluding("message:4"), excluding("message:6")]

    def store(body):
        caller = Caller(member.principal, member.key, app.test_client())
        reply = put(caller, session, body)
        return reply.status_code, parts_of(reply)

    for _ in range(15):
        with ThreadPoolExecutor(2) as pool:
            replies = list(pool.map(store, bodies))
        assert [status for status, _ in replies] == [200, 200]
        assert [parts for _, parts in replies] == [{"message:4"}, {"message:6"}]
        assert parts_of(member.get(url(session))) in ({"message:4"}, {"message:6"})


ROWS = [
    ("GET", "sessions", {"admin": 200, "member": 200, "other_member": 404, "stranger": 404}),
    ("PUT", "sessions", {"admin": 200, "member": 200, "other_member": 404, "stranger": 404}),
    ("GET", "agents", {"admin": 200, "member": 200, "other_member": 404, "stranger": 404}),
    ("PUT", "agents", {"admin": 200, "member": 200, "other_member": 404, "stranger": 404}),
]


@pytest.mark.parametrize(
    ("method", "kind", "who", "status"),
    [(m, kind, who, status) for m, kind, row in ROWS for who, status in row.items()],
)
def test_who_may_read_and_change_overrides(request, member, method, kind, who, status):
    agent = make_agent(member)
    target = agent if kind == "agents" else make_session(member, agent, *TALK)
    caller = request.getfixturevalue(who)

    body = {"json": {"overrides": []}} if method == "PUT" else {}

    assert caller.open(url(target, kind), method=method, **body).status_code == status


@pytest.mark.parametrize("kind", ["sessions", "agents"])
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_nobody_reads_or_changes_overrides_without_a_key(client, member, method, kind):
    agent = make_agent(member)
    target = agent if kind == "agents" else make_session(member, agent, *TALK)

    assert client.open(url(target, kind), method=method, json={"overrides": []}).status_code == 401


def test_a_shared_agents_overrides_are_read_and_not_changed(admin, member):
    agent = make_agent(admin, shared=True)

    assert member.get(url(agent, "agents")).status_code == 200
    assert put(member, agent, {"overrides": []}, "agents").status_code == 404


def test_overrides_take_no_other_method(member):
    session = make_session(member, None, *TALK)

    reply = member.delete(url(session))

    assert reply.status_code == 405
    assert set(reply.headers["Allow"].split(", ")) >= {"GET", "PUT"}


def test_every_code_names_a_part_or_an_entry(member):
    session = make_session(member, None, *TALK)
    reply = put(member, session, excluding("message:1"))

    assert reply.json["errors"][0]["at"] == "overrides"
    assert parse_part("message:1")


def test_a_replaced_memory_file_keeps_its_frame(member):
    agent = make_agent(member)
    member.put(f"/v1/agents/{agent}/memory/memories/AGENTS.md", json={"content": "Small steps."})
    session = make_session(member, agent, user("hi"))
    part = "system:memory:/memories/AGENTS.md"

    put(member, agent, replacing(part, "Big steps."), "agents")
    full = member.get(f"/v1/sessions/{session}/context", query_string={"full": part}).json

    assert full["text"] == "Big steps."
    assert full["content"]["text"] == ('<memory path="/memories/AGENTS.md">\nBig steps.\n</memory>')


def test_an_agents_set_does_not_claim_to_know_whose_thinking_is_lost(member):
    agent = make_agent(member)

    assert put(member, agent, excluding("tool:grep"), "agents").json["thinking_dropped"] is None


def test_tools_that_all_wait_to_be_found_are_sent_at_once(member):
    tool = {"name": "mine", "input_schema": {"type": "object"}, "defer_loading": True}
    middleware = {"todo": False, "filesystem": False}
    session = make_session(
        member, make_agent(member, tools=[tool], middleware=middleware), user("hi")
    )

    part = by_id(context(member, session))["tool:mine"]

    assert part["included"] is True
    assert part["tokens"] > 0
