"""Sessions: made, renamed, put away, deleted with all that is theirs."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.api.problems import assert_problem, codes
from tests.factories import Caller, made, make_agent, make_session
from tests.history import assistant, user


def test_a_session_comes_back_as_it_was_made(member: Caller) -> None:
    agent = make_agent(member)

    session = made(member.post("/v1/sessions", json={"agent_id": agent, "title": "Trip"}))

    assert UUID(session["id"]).version == 7
    assert session["agent_id"] == agent
    assert session["title"] == "Trip"
    assert (session["archived"], session["message_count"]) == (False, 0)
    assert member.get(f"/v1/sessions/{session['id']}").json == session


def test_a_session_is_renamed_and_put_away(member: Caller) -> None:
    session = f"/v1/sessions/{make_session(member)}"

    renamed = member.patch(session, json={"title": "New"}).json
    archived = member.patch(session, json={"archived": True}).json
    nothing = member.patch(session, json={}).json

    assert (renamed["title"], renamed["archived"]) == ("New", False)
    assert (archived["title"], archived["archived"]) == ("New", True)
    assert nothing["title"] == "New"


def test_a_deleted_session_takes_everything_along(member: Caller) -> None:
    session = f"/v1/sessions/{make_session(member, None, user('hi'))}"
    member.put(f"{session}/files/a", json={"content": "x"})
    member.post(f"{session}/attachments", json={"name": "x", "data": "aGk="})

    assert member.delete(session).status_code == 204

    for path in ("", "/messages", "/files", "/files/a", "/attachments", "/context"):
        assert member.get(f"{session}{path}").status_code == 404


@pytest.mark.parametrize(
    "agent", [None, "", "7", 7, "07b316d8-34e3-4590-b5a8-95ca7d7598530", ["x"]]
)
def test_an_agent_is_named_by_its_id(member: Caller, agent: Any) -> None:
    assert codes(member.post("/v1/sessions", json={"agent_id": agent}))[0][0] == "agent_id"


def test_an_absent_agent_is_not_there(member: Caller) -> None:
    assert_problem(member.post("/v1/sessions", json={"agent_id": str(uuid4())}), 404)


@pytest.mark.parametrize("title", ["", " ", "a\nb", "x" * 201, 5, None])
def test_a_title_is_one_line(member: Caller, title: Any) -> None:
    reply = member.patch(f"/v1/sessions/{make_session(member)}", json={"title": title})

    assert codes(reply)[0][0] == "title"


def test_titles_keep_every_script_and_emoji(member: Caller) -> None:
    title = "日本 – Größe 👨‍👩‍👧 עברית"

    session = member.patch(f"/v1/sessions/{make_session(member)}", json={"title": title})

    assert session.json["title"] == title


def test_the_list_tells_which_sessions_have_overrides(member: Caller, admin: Caller) -> None:
    plain_agent, changed_agent = make_agent(member), make_agent(member)
    plain = make_session(member, plain_agent)
    own = make_session(member, plain_agent, user("a"), assistant("b"), user("c"))
    agents = make_session(member, changed_agent)
    both = make_session(member, changed_agent, user("a"), assistant("b"), user("c"))
    for session in (own, both):
        exclude(member, f"sessions/{session}", "message:2", "message:1")
    exclude(member, f"agents/{changed_agent}", "system:todo")

    def listed(caller: Caller, query: str = "") -> dict[str, int]:
        found = caller.get(f"/v1/sessions{query}").json["items"]
        return {each["id"]: each["saved_overrides"] for each in found}

    assert listed(member) == {plain: 0, own: 2, agents: 1, both: 3}
    assert listed(member, "?overrides=true") == {own: 2, agents: 1, both: 3}
    assert listed(member, "?overrides=false") == {plain: 0}
    assert listed(admin, "?overrides=true") == {own: 2, agents: 1, both: 3}


def exclude(caller: Caller, target: str, *parts: str) -> None:
    overrides = [{"part": part, "action": "exclude"} for part in parts]
    reply = caller.put(f"/v1/{target}/context-overrides", json={"overrides": overrides})
    assert reply.status_code == 200, reply.json


def test_sessions_are_found_by_a_part_of_their_title(member: Caller) -> None:
    for title in ("Alpha_1", "Alphax1", "Beta"):
        session = make_session(member)
        member.patch(f"/v1/sessions/{session}", json={"title": title})

    found = member.get("/v1/sessions?query=a_1").json["items"]

    assert [each["title"] for each in found] == ["Alpha_1"]
