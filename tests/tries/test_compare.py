"""Two tries compared: what they were sent, what they answered, and what neither says."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from app.provider.failures import Overloaded
from app.services import tries as tries_service
from tests.api.problems import assert_problem
from tests.engine.conftest import says
from tests.factories import make_agent, make_session
from tests.fakes.providers import ScriptedProvider
from tests.fakes.strict_provider import text, thinking, tool_use
from tests.history import assistant, tool_result, user
from tests.history import tool_use as calling
from tests.tries.conftest import Tries

TALK = [user("hi"), calling("t1"), tool_result("t1"), assistant("done"), user("and now?")]
CALLED = {"input_tokens": 9, "output_tokens": 4}


def test_a_try_is_compared_with_the_plain_request(tries: Tries) -> None:
    session = make_session(tries.alice, None, *TALK)
    plain = tries.context(session)
    body = {"exclude": ["message:2"], "replace": {"message:4": "shorter"}, "message": "Why?"}
    trial = tries.answered(session, ScriptedProvider(says(text("So."))), **body)
    assert trial["baseline"] == "request"

    diff = compare(tries, trial)

    request = diff["request"]
    assert [(each["part"], each["change"]) for each in request["parts"]] == [
        ("message:2", "left_out"),
        ("message:3", "left_out"),
        ("message:4", "replaced"),
        ("synthetic:message", "added"),
    ]
    assert request["before_sha256"] == plain["request_sha256"]
    assert request["after_sha256"] == trial["snapshot"]["request_sha256"]
    assert request["tokens"] == {
        "before": plain["totals"]["after"],
        "after": trial["snapshot"]["totals"]["after"],
    }
    assert request["parts"][0]["tokens"]["after"] == 0
    parts = [each["tokens"] for each in request["parts"]]
    assert sum(each["after"] - each["before"] for each in parts) == (
        request["tokens"]["after"] - request["tokens"]["before"]
    )
    assert not request["same"]
    assert diff["answer"] is None
    assert diff["before"]["missing"]["code"] == "not_called"
    assert diff["before"]["try_id"] is None
    assert diff["after"]["try_id"] == trial["id"]


def test_what_is_saved_later_is_no_difference_of_the_try(tries: Tries) -> None:
    """The plain request is that of the moment when the try was accepted."""
    session = make_session(tries.alice, None, *TALK)
    saved = {"overrides": [{"part": "message:4", "action": "exclude"}]}
    path = f"/v1/sessions/{session}/context-overrides"
    assert tries.alice.put(path, json=saved).status_code == 200
    queued = tries.begin(session)
    assert tries.alice.put(path, json={"overrides": []}).status_code == 200
    trial = tries.carry_out(queued, ScriptedProvider(says(text("So."))))

    diff = compare(tries, trial)

    assert diff["request"]["same"]
    assert diff["request"]["parts"] == []


def test_two_answers_are_compared_word_by_word_and_call_by_call(tries: Tries) -> None:
    session = make_session(tries.alice, None, *TALK)
    first = tries.answered(session, ScriptedProvider(says(
        thinking("Hm."), text("Use make test."), tool_use("ls", "toolu_1", a=1, b=2),
        tool_use("ls", "toolu_2", a=1, b=2), usage=CALLED,
    )))  # fmt: skip
    second = tries.answered(session, ScriptedProvider(says(
        thinking("Well."), text("Use make check."), tool_use("ls", "toolu_9", b=2, a=1),
        tool_use("cat", "toolu_8"),
    )), exclude=["message:4"], baseline=first["id"])  # fmt: skip
    assert second["baseline"] == first["id"]

    diff = compare(tries, second)

    answer = diff["answer"]
    assert answer["change"] == "tool_calls"
    assert answer["similarity"] == 0.75
    assert answer["text"] == [
        {"op": "equal", "before": "Use make ", "after": "Use make "},
        {"op": "replace", "before": "test", "after": "check"},
        {"op": "equal", "before": ".", "after": "."},
    ]
    assert answer["tool_calls"] == {
        "same": 1,
        "before": [{"name": "ls", "input": {"a": 1, "b": 2}}],
        "after": [{"name": "cat", "input": {}}],
    }
    assert [each["part"] for each in diff["request"]["parts"]] == ["message:4"]
    assert diff["before"]["stop_reason"] == "tool_use"
    assert (diff["before"]["usage"]["input_tokens"], diff["before"]["missing"]) == (9, None)
    assert diff["after"]["latency_ms"] >= 0
    turned = compare(tries, first, second["id"])
    assert [each["change"] for each in turned["request"]["parts"]] == ["brought_back"]
    assert compare(tries, second, "request")["before"]["try_id"] is None


def test_parameters_and_the_model_are_compared_as_well(tries: Tries) -> None:
    agent = make_agent(tries.alice)
    session = make_session(tries.alice, agent, user("hi"))
    first = tries.answered(session, ScriptedProvider(says(text("A."))))
    change = {"model": "claude-haiku-4-5", "max_tokens": 500}
    assert tries.alice.patch(f"/v1/agents/{agent}", json=change).status_code == 200
    second = tries.answered(session, ScriptedProvider(says(text("A."))))

    diff = compare(tries, second, first["id"])

    request = diff["request"]
    assert request["before_model"] != request["after_model"] == "claude-haiku-4-5"
    (parameter,) = [each for each in request["parameters"] if each["name"] == "max_tokens"]
    assert parameter["after"] == 500
    assert (diff["answer"]["change"], diff["answer"]["similarity"]) == ("same", 1.0)


def test_a_side_without_an_answer_says_why(tries: Tries) -> None:
    session = make_session(tries.alice, None, *TALK)
    good = tries.answered(session, ScriptedProvider(says(text("A."))))
    failed = tries.answered(session, ScriptedProvider(Overloaded("Busy.")), exclude=["message:4"])
    cancelled, queued = tries.begin(session), tries.begin(session)
    tries.alice.delete(f"/v1/tries/{cancelled}")

    after_failing = compare(tries, failed, good["id"])
    assert after_failing["answer"] is None
    assert after_failing["after"]["missing"]["code"] == "provider_overloaded"
    assert [each["part"] for each in after_failing["request"]["parts"]] == ["message:4"]
    for trial, code in ((cancelled, "cancelled"), (queued, "not_ended")):
        diff = compare(tries, {"id": trial}, good["id"])
        assert (diff["request"], diff["answer"]) == (None, None)
        assert diff["after"]["missing"]["code"] == code


def test_what_was_purged_cannot_be_compared(tries: Tries, monkeypatch: pytest.MonkeyPatch) -> None:
    session = make_session(tries.alice, None, *TALK)
    first = tries.answered(session, ScriptedProvider(says(text("A."))))
    second = tries.answered(session, ScriptedProvider(says(text("B."))), baseline=first["id"])
    expire(tries, first["id"])

    tries_service.purge(tries.runtime)

    assert_problem(tries.alice.get(path(second["id"])), 410, "baseline_gone")
    assert_problem(tries.alice.get(path(second["id"], first["id"])), 410, "baseline_gone")
    assert_problem(tries.alice.get(path(first["id"])), 410, "gone")
    assert compare(tries, second, "request")["request"]["same"]


def test_only_tries_of_one_session_are_compared(tries: Tries) -> None:
    session, other = (make_session(tries.alice, None, user("hi")) for _ in range(2))
    trial = tries.answered(session, ScriptedProvider(says(text("A."))))
    elsewhere = tries.begin(other)

    assert_problem(tries.alice.get(path(trial["id"], elsewhere)), 422, "bad_baseline")
    assert_problem(tries.alice.get(path(trial["id"], trial["id"])), 422, "bad_baseline")
    assert_problem(tries.alice.get(path(trial["id"], str(uuid4()))), 404, "not_found")
    assert_problem(tries.alice.get(path(trial["id"], "yesterday")), 422, "bad_parameter")
    for baseline in (elsewhere, str(uuid4())):
        assert_problem(tries.ask(session, {"baseline": baseline}), 422, "bad_baseline")
    for baseline in ("yesterday", 5, None):
        assert_problem(tries.ask(session, {"baseline": baseline}), 422, "bad_body")
    assert len(tries.of(session)) == 1


def compare(tries: Tries, trial: Any, other: str | None = None) -> Any:
    reply = tries.alice.get(path(trial["id"], other))
    assert reply.status_code == 200, reply.text
    return reply.json


def path(trial: str, other: str | None = None) -> str:
    return f"/v1/tries/{trial}/diff" + (f"?with={other}" if other else "")


def expire(tries: Tries, trial: str) -> None:
    """Put its time in the past."""
    with tries.runtime.database.system() as tx:
        connection = tx.tries._connection
        connection.exec_driver_sql(
            "UPDATE tries SET expires_at = now() - interval '1 day' WHERE id = %s", (trial,)
        )
