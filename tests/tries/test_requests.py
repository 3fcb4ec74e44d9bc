"""Promise: a try is honest. It sends what was shown when it was accepted, and leaves no trace."""

from __future__ import annotations

from typing import Any

import pytest

from app.domain.catalogue import facts_for
from app.domain.validity import check_request
from app.store.tables import metadata
from tests.api.problems import assert_problem, codes
from tests.engine.conftest import says
from tests.factories import Caller, append, make_session
from tests.fakes.providers import ScriptedProvider
from tests.fakes.strict_provider import text
from tests.history import assistant, tool_result, user
from tests.history import tool_use as calling
from tests.tries.conftest import Tries

TALK = [user("hi"), calling("t1"), tool_result("t1"), assistant("done"), user("and now?")]
# What a try may change: its own row, its accounts, what says that it was asked for.
OWN_TABLES = {
    "tries", "usage_records", "audit_events", "quotas", "quota_days", "quota_reservations",
    "idempotency_keys", "api_keys",
}  # fmt: skip


def answering() -> ScriptedProvider:
    return ScriptedProvider(says(text("Fine.")))


def sent(tries: Tries, session: str, **body: Any) -> Any:
    """The body that a try sends; valid by all rules, and what its snapshot says."""
    provider = answering()
    trial = tries.answered(session, provider, **body)
    assert trial["status"] == "succeeded", trial
    (whole,) = provider.sent
    assert check_request(dict(whole), facts_for(whole["model"])) == []
    record = tries.record(trial["id"])
    assert record
    assert record.request_sha256 == trial["snapshot"]["request_sha256"]
    return whole


def words(turn: Any) -> list[Any]:
    return [block.get("text", block["type"]) for block in turn["content"]]


def rows(tries: Tries) -> dict[str, Any]:
    with tries.runtime.database.system() as tx:
        return {
            table.name: sorted(map(repr, tx.tries._connection.execute(table.select())))
            for table in metadata.sorted_tables
            if table.name not in OWN_TABLES
        }


def test_a_plain_try_sends_what_inspect_shows(tries: Tries) -> None:
    session = make_session(tries.alice, None, *TALK)
    shown = tries.context(session)

    reply = tries.ask(session)
    ended = tries.carry_out(reply.json["id"], answering())

    for snapshot in (reply.json["snapshot"], ended["snapshot"]):
        assert snapshot["request_sha256"] == shown["request_sha256"]
        assert snapshot["totals"]["after"] == shown["totals"]["after"]


def test_a_try_sends_what_the_saved_set_would_make_a_run_send(tries: Tries) -> None:
    session = make_session(tries.alice, None, *TALK)
    trial = tries.begin(session, exclude=["message:2"], replace={"message:1": "Hello"})
    saved = [
        {"part": "message:2", "action": "exclude"},
        {"part": "message:1", "action": "replace", "replacement": "Hello"},
    ]
    put = f"/v1/sessions/{session}/context-overrides"
    assert tries.alice.put(put, json={"overrides": saved}).status_code == 200

    shown = tries.context(session)["request_sha256"]

    assert tries.get(trial)["snapshot"]["request_sha256"] == shown


def test_nothing_but_its_own_rows_is_written(tries: Tries) -> None:
    session = make_session(tries.alice, None, *TALK)
    before = rows(tries)

    sent(tries, session, exclude=["message:2", "tool:ls"], message="Secret question")

    assert rows(tries) == before
    assert [each["seq"] for each in tries.messages(session)] == [1, 2, 3, 4, 5]
    assert tries.alice.get(f"/v1/sessions/{session}/runs").json["items"] == []


def test_what_was_accepted_is_sent_whatever_changes_meanwhile(tries: Tries) -> None:
    session = make_session(tries.alice, None, *TALK)
    agent = tries.alice.get(f"/v1/sessions/{session}").json["agent_id"]
    trial = tries.begin(session, exclude=["message:2"])
    accepted = tries.get(trial)
    append(tries.alice, session, assistant("later"), user("much later"))
    tries.alice.patch(f"/v1/agents/{agent}", json={"system_prompt": "Another."})
    tries.alice.put(f"/v1/agents/{agent}/memory/memories/a.md", json={"content": "new"})
    excluding = {"overrides": [{"part": "message:4", "action": "exclude"}]}
    tries.alice.put(f"/v1/sessions/{session}/context-overrides", json=excluding)
    provider = answering()

    ended = tries.carry_out(trial, provider)

    assert ended["snapshot"] == accepted["snapshot"]
    assert provider.sent[0]["system"][0]["text"] == "Help."
    (turn,) = [each for each in provider.sent[0]["messages"] if each["role"] == "assistant"]
    assert words(turn) == ["done"]


def test_a_message_follows_the_results_of_an_open_turn(tries: Tries) -> None:
    """D02"""
    session = make_session(tries.alice, None, user("look"), calling("p1", "p2"), tool_result("p2"))

    whole = sent(tries, session, message="go on")

    last = whole["messages"][-1]
    assert [block["type"] for block in last["content"]] == ["tool_result", "tool_result", "text"]
    assert last["content"][2]["text"] == "go on"
    assert {block.get("tool_use_id") for block in last["content"]} == {"p1", "p2", None}


def test_an_end_on_the_assistant_gets_a_turn_to_go_on(tries: Tries) -> None:
    """D08"""
    session = make_session(tries.alice, None, user("hi"), assistant("hello"))

    assert words(sent(tries, session)["messages"][-1]) == ["[Continue]"]
    assert words(sent(tries, session, message="More")["messages"][-1]) == ["More"]
    append(tries.alice, session, user("so?"))
    cut = sent(tries, session, exclude=["message:3"])["messages"]
    assert [words(turn) for turn in cut] == [["hi"], ["hello"], ["[Continue]"]]


def test_a_message_alone_is_enough(tries: Tries) -> None:
    assert len(sent(tries, make_session(tries.alice), message="Hello")["messages"]) == 1
    session = make_session(tries.alice, None, user("hi"), assistant("hello"))

    whole = sent(tries, session, exclude=["message:1", "message:2"], message="Anew")

    assert [words(turn) for turn in whole["messages"]] == [["Anew"]]


def test_the_body_wins_over_what_is_saved_and_adds_to_the_rest(tries: Tries) -> None:
    session = make_session(tries.alice, None, *TALK)
    agent = tries.alice.get(f"/v1/sessions/{session}").json["agent_id"]
    saved = [
        {"part": "message:1", "action": "replace", "replacement": "saved"},
        {"part": "message:4", "action": "exclude"},
        {"part": "message:5", "action": "replace", "replacement": "also saved"},
    ]
    tries.alice.put(f"/v1/sessions/{session}/context-overrides", json={"overrides": saved})
    no_ls = {"overrides": [{"part": "tool:ls", "action": "exclude"}]}
    tries.alice.put(f"/v1/agents/{agent}/context-overrides", json=no_ls)

    whole = sent(
        tries,
        session,
        exclude=["tool:glob", "system:todo"],
        replace={"message:1": "mine", "message:4": "Shorter.", "system:agent": "Be brief."},
    )

    assert words(whole["messages"][0]) == ["mine"]
    assert words(whole["messages"][-1]) == ["also saved"]
    assert not {"ls", "glob"} & {tool["name"] for tool in whole["tools"]}
    assert whole["system"][0]["text"] == "Be brief."
    (trial,) = tries.of(session)
    assert set(trial["excluded"]) == {"tool:ls", "tool:glob", "system:todo"}
    assert set(trial["replaced"]) == {"message:1", "message:4", "message:5", "system:agent"}


def test_a_saved_set_that_is_suspended_stays_out_of_a_try_too(tries: Tries) -> None:
    session = make_session(tries.alice, None, user("hi"), assistant("yes"), calling("t1"))
    excluding = {"overrides": [{"part": "message:3", "action": "exclude"}]}
    put = f"/v1/sessions/{session}/context-overrides"
    assert tries.alice.put(put, json=excluding).status_code == 200
    append(tries.alice, session, tool_result("t1"))
    assert tries.context(session)["overrides"]["suspended"]

    trial = tries.ask(session).json

    assert trial["excluded"] == []
    assert trial["snapshot"]["request_sha256"] == tries.context(session)["request_sha256"]


def test_a_part_that_is_not_there_is_no_error(tries: Tries) -> None:
    sent(tries, make_session(tries.alice, None, user("hi")), exclude=["tool:none", "message:99"])


def test_the_audit_names_parts_and_says_no_words(tries: Tries, admin: Caller) -> None:
    session = make_session(tries.alice, None, *TALK)
    trial = tries.begin(
        session, exclude=["message:2"], replace={"message:5": "secret one"}, message="secret two"
    )

    (event, *_) = admin.get("/v1/audit").json["items"]

    assert (event["action"], event["target_id"]) == ("context.try", session)
    assert event["detail"] == {
        "try": trial,
        "excluded": ["message:2", "message:3"],
        "model": "claude-sonnet-4-5",
    }


@pytest.mark.parametrize(
    "field", [{"message": "bad \ud83d end"}, {"message": "a\u0000b"}, {"message": "\\u0000"}]
)
def test_text_that_no_provider_takes_is_made_good(tries: Tries, field: dict[str, str]) -> None:
    """D15, D24"""
    whole = sent(tries, make_session(tries.alice), **field)

    clean = field["message"].replace("\ud83d", "\ufffd").replace("\x00", "\ufffd")
    assert words(whole["messages"][-1]) == [clean]


def test_an_answer_that_the_store_does_not_take_is_made_good(tries: Tries) -> None:
    trial = tries.answered(
        make_session(tries.alice, None, user("hi")), ScriptedProvider(says(text("a\u0000b\udcadc")))
    )

    assert trial["answer"]["content"] == [{"type": "text", "text": "a\ufffdb\ufffdc"}]


REFUSED = [
    ({"exclude": ["message:07"]}, [("exclude[0]", "bad_part")]),
    ({"exclude": ["system:memory:/m/\u0000"]}, [("exclude[0]", "bad_part")]),
    ({"exclude": ["tool:\ud83d"]}, [("exclude[0]", "bad_part")]),
    ({"exclude": ["synthetic:message"]}, [("exclude[0]", "wrong_target")]),
    ({"replace": {"tool:ls": "x"}}, [("replace[0]", "tool_replace")]),
    ({"replace": {"message:1": " \n"}}, [("replace[0]", "empty_replacement")]),
    ({"replace": {"message:1": "x" * 600_000}}, [("replace[0]", "replacement_too_large")]),
    (
        {"exclude": ["message:5"], "replace": {"message:5": "x"}},
        [("exclude[0]", "duplicate_part"), ("replace[0]", "duplicate_part")],
    ),
    ({"exclude": ["message:1"]}, [("exclude", "starts_with_assistant")]),
    ({"exclude": ["message:1", "message:2", "message:5"]}, [("exclude", "no_user_message")]),
]


@pytest.mark.parametrize(("body", "expected"), REFUSED)
def test_what_could_not_be_sent_is_refused_with_its_code(
    tries: Tries, body: Any, expected: Any
) -> None:
    """D05 and its kind: nothing is stored, and nobody is called."""
    session = make_session(tries.alice, None, *TALK)

    reply = tries.ask(session, body)

    assert_problem(reply, 422, "overrides_refused")
    assert codes(reply) == expected
    assert tries.of(session) == []
    assert tries.runtime.redis.llen("hango:calls") == 0


def test_a_replacement_of_several_results_is_ambiguous(tries: Tries) -> None:
    session = make_session(
        tries.alice, None, user("look"), calling("p1", "p2"), tool_result("p1", "p2")
    )

    reply = tries.ask(session, {"replace": {"message:3": "x"}})

    assert codes(reply) == [("replace[0]", "ambiguous_replacement")]


def test_an_empty_message_and_an_empty_session_are_refused(tries: Tries) -> None:
    session = make_session(tries.alice)

    assert_problem(tries.ask(session), 422, "nothing_to_send")
    assert_problem(tries.ask(session, {"message": "  "}), 422, "history_refused")


@pytest.mark.parametrize(
    "body",
    [None, [], "x", {"exclude": "message:1"}, {"exclude": [None]}, {"replace": ["a"]},
     {"replace": {"message:1": None}}, {"replace": {"message:1": 5}}, {"message": 5},
     {"message": None}, {"overrides": []}],
)  # fmt: skip
def test_a_body_of_another_shape_is_refused(tries: Tries, body: Any) -> None:
    """D39"""
    session = make_session(tries.alice, None, user("hi"))

    reply = tries.ask(session, body)

    assert_problem(reply, 422, "bad_body")
    assert tries.of(session) == []


def test_what_is_no_json_is_told_so(tries: Tries) -> None:
    """D39"""
    session = make_session(tries.alice, None, user("hi"))
    path = f"/v1/sessions/{session}/context/try"
    as_json = {"content_type": "application/json"}

    assert_problem(tries.alice.post(path, data=b"{", **as_json), 400)
    assert_problem(tries.alice.post(path, data=b"", **as_json), 400)
    assert_problem(tries.alice.post(path, data=b"{}"), 415)
    assert_problem(tries.alice.delete(path), 405)
