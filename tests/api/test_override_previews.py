"""What a change of overrides would answer and cost."""

from __future__ import annotations

from tests.api.override_sets import (
    SPREAD,
    context,
    excluding,
    url,
)
from tests.factories import make_agent, make_session
from tests.history import user


def test_a_preview_stores_nothing_and_says_what_put_would(member):
    session = make_session(member, None, *SPREAD)

    reply = member.post(f"{url(session)}/preview", json=excluding("message:3"))

    assert reply.status_code == 200, reply.text
    assert {each["part"] for each in reply.json["added"]} == {"message:2", "message:4"}
    assert reply.json["alternatives"] == [
        {"part": "message:3", "action": "replace", "replacement": "[left out]"},
        {"part": "message:4", "action": "replace", "replacement": "[left out]"},
    ]
    price = reply.json["price"]
    assert price["saved_per_call"] > 0
    assert (price["prefix_rebilled"], price["pays_after_calls"]) == (0, 0)
    assert member.get(url(session)).json["overrides"] == []


def test_a_preview_of_a_changed_prefix_tells_what_is_billed_again(member):
    agent = make_agent(member, system_prompt="word " * 3000)
    session = make_session(member, agent, user("hi"))
    path = f"{url(agent, 'agents')}/preview"

    measured = member.post(path, json=excluding("tool:grep"), query_string={"session": session})
    unmeasured = member.post(path, json=excluding("tool:grep"))

    price = measured.json["price"]
    assert price["saved_per_call"] > 0
    assert price["prefix_rebilled"] > 3000
    assert price["pays_after_calls"] >= price["prefix_rebilled"] // price["saved_per_call"]
    assert unmeasured.json["price"] == {
        "saved_per_call": None,
        "prefix_rebilled": None,
        "pays_after_calls": None,
        "prefix_lost": None,
    }


def test_a_preview_measures_only_on_a_session_of_the_agent(member):
    agent = make_agent(member)
    other = make_session(member, make_agent(member, name="another"), user("hi"))
    path = f"{url(agent, 'agents')}/preview"

    reply = member.post(path, json=excluding("tool:grep"), query_string={"session": other})

    assert reply.status_code == 422
    assert [(f["at"], f["code"]) for f in reply.json["errors"]] == [("session", "wrong_target")]


def test_an_edit_that_loses_the_cached_prefix_never_pays(member):
    agent = make_agent(member, model="claude-opus-4-8", system_prompt="sys " * 60)
    session = make_session(member, agent, user("hi"))
    shown = context(member, session)["cache"]
    assert shown["effective"], shown

    reply = member.post(
        f"{url(agent, 'agents')}/preview",
        json=excluding("system:filesystem", "system:todo", "tool:read_file", "tool:write_todos"),
        query_string={"session": session},
    )

    price = reply.json["price"]
    assert price["prefix_lost"] is True
    assert price["pays_after_calls"] is None
    assert price["prefix_rebilled"] > 0
