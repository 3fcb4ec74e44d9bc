from __future__ import annotations

import base64
from urllib.parse import quote

import jsonschema
import pytest

from app.runtime import Runtime
from tests.factories import Caller, append, make_agent, make_session
from tests.history import assistant, text, tool_result, tool_use, user
from tests.pictures import picture

TALK = [user("hi"), tool_use("t1"), tool_result("t1"), assistant("done"), user("and now?")]


def context(caller: Caller, session: str, **query: object):
    return caller.get(f"/v1/sessions/{session}/context", query_string=query)


def parts(reply, group):
    return [part["id"] for part in reply.json["groups"][group]["parts"]]


def test_the_context_of_a_session_lists_its_next_call(member):
    session = make_session(member, None, *TALK)

    reply = context(member, session)

    assert reply.status_code == 200, reply.text
    assert reply.headers["Cache-Control"] == "no-store"
    assert parts(reply, "messages") == [f"message:{seq}" for seq in range(1, 6)]
    assert parts(reply, "system")[0] == "system:agent"
    assert "tool:read_file" in parts(reply, "tools")
    totals = reply.json["totals"]
    sums = sum(group["tokens"]["after"] for group in reply.json["groups"].values())
    assert totals["after"] == sums + totals["framing"]
    assert totals["counted"] == "estimate"
    assert reply.json["would_compact"] is False
    assert reply.json["overrides"] == {"active": 0, "stale": 0}
    assert reply.json["transparent"] is True


def test_memory_and_skills_show_as_parts_with_their_versions(member):
    agent = make_agent(member)
    member.put(f"/v1/agents/{agent}/memory/memories/AGENTS.md", json={"content": "Small steps."})
    member.put(
        f"/v1/agents/{agent}/skills/review", json={"description": "How to review", "body": "Read."}
    )
    session = make_session(member, agent, user("hi"))

    reply = context(member, session)

    assert "system:memory:/memories/AGENTS.md" in parts(reply, "system")
    assert "system:skills" in parts(reply, "system")
    assert "tool:read_skill" in parts(reply, "tools")


@pytest.mark.parametrize(
    "path",
    ["/memories/AGENTS.md", "/memories/a+b.md", "/memories/R&D #1 50%.md", "/memories/日本.md"],
)
def test_a_memory_part_in_full_is_the_file(member, path):
    agent = make_agent(member)
    content = 'One.\n\n  Two: <memory> "quoted" & more\n'
    url = f"/v1/agents/{agent}/memory{quote(path)}"
    assert member.put(url, json={"content": content}).status_code in (200, 201)
    session = make_session(member, agent, user("hi"))

    reply = context(member, session, full=f"system:memory:{path}")

    assert reply.status_code == 200, reply.text
    assert reply.json["text"] == content
    assert content in reply.json["content"]["text"]


def test_a_message_in_full_has_its_blocks(member):
    session = make_session(member, None, *TALK)

    reply = context(member, session, full="message:2")

    assert reply.json["content"] == {"role": "assistant", "content": TALK[1][1]}
    assert reply.json["part"]["label"] == "#2 assistant"


def test_a_tool_in_full_is_its_definition(member):
    tool = {"name": "deploy", "description": "Ship it.", "input_schema": {"type": "object"}}
    session = make_session(member, make_agent(member, tools=[tool]), user("hi"))

    assert context(member, session, full="tool:deploy").json["content"] == tool


@pytest.mark.parametrize(
    ("part", "status"),
    [
        ("message:99", 404),
        ("system:memory:/none", 404),
        ("message:07", 422),
        ("message:٤٢", 422),
        ("summary ", 422),
        ("system:", 422),
        ("", 422),
        ("nonsense", 422),
        ("system:memory:/m/\x00", 422),
    ],
)
def test_a_part_that_is_not_there_is_told_from_one_that_cannot_be(member, part, status):
    session = make_session(member, None, *TALK)

    reply = context(member, session, full=part)

    assert reply.status_code == status
    assert reply.json["code"] == ("not_found" if status == 404 else "bad_part")


def test_media_is_left_out_of_the_full_view_unless_asked_for(member):
    data = base64.b64encode(picture("PNG", 1600, 1200)).decode()
    source = {"type": "base64", "media_type": "image/png", "data": data}
    blocks = [{"type": "image", "source": source}, text("what?")]
    session = make_session(member, None, ("user", blocks))

    shown = context(member, session).json["groups"]["messages"]["parts"][0]
    left_out = context(member, session, full="message:1").json
    whole = context(member, session, full="message:1", media="1").json

    assert shown["preview"] == "[image 1600×1200 png] what?"
    assert 100 <= shown["tokens"] <= 5000
    assert left_out["content"]["content"][0]["source"]["data"] == ""
    assert left_out["omitted_characters"] == len(data)
    assert whole["content"]["content"][0]["source"]["data"] == data


def test_messages_come_in_pages_with_totals_over_all(member):
    session = make_session(member, None, *TALK)
    whole = context(member, session).json

    last = context(member, session, messages_limit=2).json
    group = last["groups"]["messages"]
    before = context(
        member, session, messages_limit=2, messages_before=group["page"]["before"]
    ).json["groups"]["messages"]
    first = context(
        member, session, messages_limit=2, messages_before=before["page"]["before"]
    ).json["groups"]["messages"]

    assert [part["id"] for part in group["parts"]] == ["message:4", "message:5"]
    assert [part["id"] for part in before["parts"]] == ["message:2", "message:3"]
    assert [part["id"] for part in first["parts"]] == ["message:1"]
    assert first["page"] == {"before": None, "total": 5}
    assert last["totals"] == whole["totals"]
    assert group["tokens"] == whole["groups"]["messages"]["tokens"]


@pytest.mark.parametrize(
    "query",
    [
        {"messages_limit": "0"},
        {"messages_limit": "-1"},
        {"messages_before": "٤"},
        {"media": "yes"},
        {"view": "sideways"},
        {"surprise": "1"},
    ],
)
def test_a_query_that_is_not_understood_is_refused(member, query):
    session = make_session(member, None, user("hi"))

    assert context(member, session, **query).status_code == 422


def test_inspect_gives_the_same_hash_until_something_changes(member):
    agent = make_agent(member)
    session = make_session(member, agent, *TALK)
    first = context(member, session).json["request_sha256"]

    assert context(member, session).json["request_sha256"] == first
    append(member, session, assistant("yes"))
    second = context(member, session).json["request_sha256"]
    member.patch(f"/v1/agents/{agent}", json={"system_prompt": "Help more."})
    third = context(member, session).json["request_sha256"]

    assert len({first, second, third}) == 3


def test_a_change_of_model_family_recounts_without_writing(member, runtime: Runtime):
    agent = make_agent(member, model="claude-sonnet-4-5")
    session = make_session(member, agent, user("words " * 200))
    old = context(member, session).json["totals"]

    member.patch(f"/v1/agents/{agent}", json={"model": "claude-opus-5-5"})
    new = context(member, session).json["totals"]

    assert new["estimator"] != old["estimator"]
    assert new["after"] > old["after"]


def test_an_empty_session_has_a_context(member):
    session = make_session(member)

    reply = context(member, session)

    assert reply.json["sendable"] is False
    assert parts(reply, "messages") == []


def test_forty_tools_and_seven_system_parts_are_all_counted(member):
    schema = {
        "type": "object",
        "properties": {
            f"field_{n}": {"type": "string", "description": "What this field is about. " * 4}
            for n in range(16)
        },
    }
    tools = [
        {"name": f"tool_{n}", "description": "Does something.", "input_schema": schema}
        for n in range(40)
    ]
    subagents = [{"name": "scout", "description": "Looks around.", "system_prompt": "Look."}]
    agent = make_agent(member, tools=tools, subagents=subagents)
    for name in ("AGENTS.md", "style.md"):
        member.put(f"/v1/agents/{agent}/memory/memories/{name}", json={"content": "Be kind."})
    member.put(f"/v1/agents/{agent}/skills/review", json={"description": "d", "body": "b"})
    session = make_session(member, agent, *TALK)

    reply = context(member, session)

    assert len(parts(reply, "system")) == 7
    assert reply.json["groups"]["tools"]["tokens"]["after"] > 10_000


def test_somebody_elses_session_is_not_there(member, other_member, stranger, client):
    session = make_session(member, None, *TALK)
    nowhere = other_member.get("/v1/sessions/00000000-0000-7000-8000-000000000000/context")

    for caller in (other_member, stranger):
        for query in ({}, {"full": "message:1"}):
            reply = context(caller, session, **query)
            assert reply.status_code == 404
            assert {**reply.json, "request_id": ""} == {**nowhere.json, "request_id": ""}
    assert client.get(f"/v1/sessions/{session}/context").status_code == 401


def test_only_get_is_answered(member):
    session = make_session(member, None, user("hi"))

    reply = member.delete(f"/v1/sessions/{session}/context")

    assert reply.status_code == 405
    assert "GET" in reply.headers["Allow"]


def test_a_session_keeps_its_context_when_its_agent_is_no_longer_shared(admin, member):
    agent = make_agent(admin, shared=True)
    session = make_session(member, agent, user("hi"))
    assert admin.patch(f"/v1/agents/{agent}", json={"shared": False}).status_code == 200

    assert context(member, session).status_code == 200


@pytest.mark.parametrize("query", [{}, {"messages_limit": 1}, {"full": "message:2"}])
def test_the_answer_is_what_the_document_says(query, member):
    session = make_session(member, None, *TALK)
    exclude = {"overrides": [{"part": "message:3", "action": "exclude"}]}
    assert member.put(f"/v1/sessions/{session}/context-overrides", json=exclude).status_code == 200
    document = member.get("/v1/openapi.json").json
    told = document["paths"]["/v1/sessions/{session_id}/context"]["get"]["responses"]["200"]
    schema = told["content"]["application/json"]["schema"]

    reply = context(member, session, **query)

    jsonschema.validate(reply.json, {**schema, "components": document["components"]})
    named = [
        document["components"]["schemas"][each["$ref"].split("/")[-1]] for each in schema["anyOf"]
    ]
    assert any(reply.json.keys() <= each["properties"].keys() for each in named)
