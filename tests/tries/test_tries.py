"""Tries from their POST to their end, carried out in this process by a provider that is told."""

from __future__ import annotations

from tests.factories import make_session
from tests.history import assistant, user
from tests.tries.conftest import Tries


def test_a_try_is_answered_and_leaves_the_session_as_it_is(tries: Tries) -> None:
    session = make_session(tries.alice, None, user("hi"), assistant("hello"))
    reply = tries.ask(session, {"message": "Tell me more"})
    assert reply.status_code == 202, reply.text
    assert reply.headers["Location"] == f"/v1/tries/{reply.json['id']}"

    trial = tries.carry_out(reply.json["id"])

    assert trial["status"] == "succeeded", trial
    assert trial["answer"]["role"] == "assistant"
