"""Idempotency keys: the first answer again, and nothing done twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from app.runtime import Runtime
from app.services import upkeep
from tests.api.problems import assert_problem, codes
from tests.factories import Caller, make_agent, make_session

BODY = {"name": "once", "model": "claude-sonnet-4-5"}


def create(caller: Caller, key: str, body: dict[str, Any] = BODY) -> Any:
    return caller.post("/v1/agents", json=body, headers={"Idempotency-Key": key})


def test_the_same_request_again_gets_the_first_answer(member: Caller) -> None:
    first, again = create(member, "k1"), create(member, "k1")

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json == first.json
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    assert len(member.get("/v1/agents").json["items"]) == 1


def test_quotes_around_a_key_make_no_difference(member: Caller) -> None:
    first = create(member, '"k 1"'.replace(" ", "-"))
    again = create(member, "k-1")

    assert again.json == first.json


def test_the_order_of_keys_makes_no_difference_anywhere(member: Caller) -> None:
    tool = {"name": "t", "description": "d", "input_schema": {"type": "object"}}

    first = create(member, "k", BODY | {"tools": [tool]})
    again = create(member, "k", BODY | {"tools": [dict(reversed(tool.items()))]})

    assert again.json == first.json


def test_another_body_with_the_key_is_refused(member: Caller) -> None:
    create(member, "k1")

    assert_problem(create(member, "k1", BODY | {"name": "twice"}), 422, "idempotency_mismatch")
    assert len(member.get("/v1/agents").json["items"]) == 1


def test_a_key_is_its_users_and_its_routes_own(member: Caller, other_member: Caller) -> None:
    agent = create(member, "k1").json["id"]
    header = {"Idempotency-Key": "k1"}

    theirs = create(other_member, "k1")
    elsewhere = member.post("/v1/sessions", json={"agent_id": agent}, headers=header)

    assert theirs.json["id"] != agent
    assert elsewhere.status_code == 201
    assert "Idempotent-Replayed" not in elsewhere.headers


def test_a_request_that_failed_may_be_corrected_under_its_key(member: Caller) -> None:
    refused = create(member, "k1", BODY | {"max_tokens": 10**9})
    corrected = create(member, "k1")

    assert refused.status_code == 422
    assert corrected.status_code == 201


@pytest.mark.parametrize("key", ["", " ", "a b", "é", "x" * 256, '"', '""', '"a'])
def test_what_is_no_key_is_refused(member: Caller, key: str) -> None:
    assert codes(create(member, key)) == [("Idempotency-Key", "invalid")]


def test_messages_are_stored_once_and_told_again(member: Caller) -> None:
    session = make_session(member)
    path = f"/v1/sessions/{session}/messages"
    request = {
        "json": {"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]},
        "headers": {"Idempotency-Key": "k"},
    }

    first = member.post(path, **request)
    member.post(path, json={"role": "assistant", "content": "between"})
    again = member.post(path, **request)

    assert again.json == first.json
    assert [each["seq"] for each in again.json["items"]] == [1, 2]
    assert len(member.get(path).json["items"]) == 3


def test_what_the_first_request_made_may_be_gone(member: Caller) -> None:
    agent = create(member, "k1").json["id"]
    assert member.delete(f"/v1/agents/{agent}").status_code == 204

    assert_problem(create(member, "k1"), 404)


@pytest.mark.committed
def test_of_many_at_once_one_does_the_work(member: Caller) -> None:
    session = make_session(member, make_agent(member))
    path = f"/v1/sessions/{session}/messages"

    def send(_: int) -> Any:
        body = {"role": "user", "content": "hello"}
        return member.post(path, json=body, headers={"Idempotency-Key": "race"})

    with ThreadPoolExecutor(10) as pool:
        replies = list(pool.map(send, range(10)))

    done = [reply for reply in replies if reply.status_code == 201]
    refused = [reply for reply in replies if reply.status_code != 201]
    assert len([reply for reply in done if "Idempotent-Replayed" not in reply.headers]) == 1
    assert all(reply.json == done[0].json for reply in done)
    for reply in refused:
        assert_problem(reply, 409, "idempotency_running")
    assert len(member.get(path).json["items"]) == 1


def test_keys_are_forgotten_when_their_time_is_over(member: Caller, runtime: Runtime) -> None:
    create(member, "k1")

    upkeep.purge_idempotency(runtime)
    assert create(member, "k1").headers["Idempotent-Replayed"] == "true"
