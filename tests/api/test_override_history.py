"""Who changed overrides, when and why, and going back to an earlier set."""

from __future__ import annotations

from tests.api.override_sets import (
    TALK,
    context,
    excluding,
    parts_of,
    put,
    replacing,
    url,
)
from tests.factories import make_agent, make_session
from tests.history import user


def test_each_change_is_audited_without_its_text(admin):
    session = make_session(admin, None, *TALK)

    put(admin, session, replacing("message:5", "MARK-SECRET"))

    rows = admin.get("/v1/audit", query_string={"action": "context.override"}).json["items"]
    assert len(rows) == 1
    assert rows[0]["target_kind"] == "session"
    assert rows[0]["target_id"] == session
    assert rows[0]["detail"]["overrides"] == [{"part": "message:5", "action": "replace"}]
    assert "MARK-SECRET" not in str(rows)


def test_a_set_tells_who_when_and_why(member):
    session = make_session(member, None, *TALK)
    body = excluding("message:4") | {"reason": "too long"}

    stored = put(member, session, body).json["overrides"][0]

    assert stored["created_by"] == str(member.principal.user_id)
    assert stored["created_at"].endswith("Z")
    assert stored["reason"] == "too long"


def test_past_sets_are_listed_and_brought_back(member):
    session = make_session(member, None, *TALK)
    for parts in (["message:4"], ["message:5"], []):
        put(member, session, excluding(*parts))

    items = member.get(f"{url(session)}/history").json["items"]
    back = member.post(f"{url(session)}/restore", json={"version": 1})

    assert [each["version"] for each in items] == [3, 2, 1]
    assert parts_of(back) == {"message:4"}
    assert member.get(f"{url(session)}/history").json["items"][0]["reason"] == (
        "restored from version 1"
    )
    assert member.post(f"{url(session)}/restore", json={"version": 99}).status_code == 404


def test_the_last_twenty_sets_are_kept(member):
    session = make_session(member, None, *TALK)
    for number in range(23):
        put(member, session, replacing("message:5", f"text {number}"))

    items = member.get(f"{url(session)}/history").json["items"]

    assert [each["version"] for each in items] == list(range(23, 3, -1))


def test_a_set_that_is_brought_back_still_knows_what_it_replaced(member):
    agent = make_agent(member, system_prompt="Help.")
    session = make_session(member, agent, user("hi"))
    put(member, agent, replacing("system:agent", "Be brief."), "agents")
    member.patch(f"/v1/agents/{agent}", json={"system_prompt": "Help a lot."})
    put(member, agent, {"overrides": []}, "agents")

    member.post(f"{url(agent, 'agents')}/restore", json={"version": 1})

    assert context(member, session)["overrides"]["base_changed"] == 1


def test_a_new_reason_for_the_same_override_is_kept(member):
    session = make_session(member, None, *TALK)
    put(member, session, excluding("message:4") | {"reason": "first"})

    put(member, session, excluding("message:4") | {"reason": "second"})

    assert member.get(url(session)).json["overrides"][0]["reason"] == "second"
