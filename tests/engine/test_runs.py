"""A run from its POST to its end, carried out in this process."""

from __future__ import annotations

from tests.engine.conftest import Runs
from tests.factories import make_session


def test_a_run_is_answered_by_the_stand_in(runs: Runs) -> None:
    session = make_session(runs.alice)
    begun = runs.alice.post(f"/v1/sessions/{session}/runs", json={"message": "Hello there"})
    assert begun.status_code == 202
    assert begun.headers["Location"] == f"/v1/runs/{begun.json['id']}"
    assert begun.json["status"] == "queued"

    run = runs.carry_out(begun.json["id"])

    assert run["status"] == "succeeded", run
    assert run["stop_reason"] == "end_turn"
    assert run["messages"] == [1, 2]
    assert run["usage"]["calls"] == 1
    assert run["usage"]["input_tokens"] > 0
    answer = runs.messages(session)[1]
    assert answer["role"] == "assistant"
    assert "Hello there" in answer["content"][0]["text"]
