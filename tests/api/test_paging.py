"""Cursors: whole lists in pages, and no page from a made-up cursor."""

from __future__ import annotations

import base64

import pytest

from tests.api.problems import assert_problem, codes
from tests.factories import Caller, make_agent, make_session


def walk(caller: Caller, path: str, limit: int) -> list[str]:
    ids: list[str] = []
    after = ""
    while True:
        page = caller.get(f"{path}{'&' if '?' in path else '?'}limit={limit}{after}").json
        ids += [item["id"] for item in page["items"]]
        if page["next"] is None:
            return ids
        after = f"&after={page['next']}"


def test_pages_make_the_whole_list_newest_first(member: Caller) -> None:
    made = [make_agent(member) for _ in range(7)]

    for limit in (1, 3, 7, 200):
        assert walk(member, "/v1/agents", limit) == made[::-1]


def test_pages_keep_their_filter(member: Caller) -> None:
    agent, other = make_agent(member), make_agent(member)
    wanted = [make_session(member, agent) for _ in range(3)]
    make_session(member, other)
    archived = make_session(member, agent)
    assert member.patch(f"/v1/sessions/{archived}", json={"archived": True}).status_code == 200

    assert walk(member, f"/v1/sessions?agent_id={agent}&archived=false", 2) == wanted[::-1]
    assert walk(member, "/v1/sessions?archived=true", 2) == [archived]


def test_a_cursor_belongs_to_its_list_filter_and_tenant(member: Caller, stranger: Caller) -> None:
    for caller in (member, stranger):
        agent = make_agent(caller)
        for _ in range(2):
            make_session(caller, agent)
        make_agent(caller)
    cursor = member.get("/v1/agents?limit=1").json["next"]

    assert member.get(f"/v1/agents?limit=2&after={cursor}").status_code == 200
    for reply in (
        member.get(f"/v1/sessions?after={cursor}"),
        member.get(f"/v1/agents?query=x&after={cursor}"),
        stranger.get(f"/v1/agents?after={cursor}"),
    ):
        assert_problem(reply, 422, "bad_parameter")
        assert codes(reply) == [("after", "bad_cursor")]


def test_a_made_up_cursor_is_refused(member: Caller) -> None:
    make_agent(member)
    make_agent(member)
    cursor = member.get("/v1/agents?limit=1").json["next"]
    raw = base64.urlsafe_b64decode(cursor + "==")
    last = b'1"' if raw.endswith(b'0"') else b'0"'
    forged = base64.urlsafe_b64encode(raw[:-2] + last).decode()

    for made_up in (
        "x",
        "é",
        "0",
        "=",
        cursor[:-1],
        cursor + "A",
        cursor.lower(),
        forged,
        "A" * 900,
    ):
        assert codes(member.get("/v1/agents", query_string={"after": made_up})) == [
            ("after", "bad_cursor")
        ]


@pytest.mark.parametrize(
    ("query", "at"),
    [("limit=0", "limit"), ("limit=201", "limit"), ("limit=-1", "limit"), ("limit=%2B7", "limit"),
     ("limit=1_0", "limit"), ("limit=%207", "limit"), ("limit=٤", "limit"), ("limit=1e2", "limit"),
     ("limit=", "limit"), (f"limit={'9' * 40}", "limit"), ("after=", "after"), ("page=2", "page"),
     ("query=", "query"), (f"after={'A' * 2000}", "after")],
)  # fmt: skip
def test_a_wrong_parameter_is_named(member: Caller, query: str, at: str) -> None:
    reply = member.get(f"/v1/agents?{query}")

    assert_problem(reply, 422, "bad_parameter")
    assert [where for where, _ in codes(reply)] == [at]


@pytest.mark.parametrize("value", ["yes", "1", "True", ""])
def test_a_switch_is_true_or_false(member: Caller, value: str) -> None:
    assert codes(member.get(f"/v1/sessions?archived={value}"))[0][0] == "archived"
