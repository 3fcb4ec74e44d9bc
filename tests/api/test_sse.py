"""Runs as streams of events: whole, resumed, and honest about what is no longer kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from flask import Flask

from app.api import sse
from app.events import stream_of
from app.runtime import Runtime
from app.services import execution
from tests.factories import Caller, make_session
from tests.fakes.providers import ScriptedProvider
from tests.fakes.strict_provider import Reply, text, tool_use


@pytest.fixture
def run(member: Caller, runtime: Runtime) -> str:
    """A run of two turns that has ended."""
    begun = member.post(f"/v1/sessions/{make_session(member)}/runs", json={"message": "hi"})
    provider = ScriptedProvider(
        Reply(blocks=[tool_use("ls")]), Reply(blocks=[text("There is nothing.")])
    )
    execution.execute(replace(runtime, provider=provider), UUID(begun.json["id"]))
    return str(begun.json["id"])


def events(caller: Caller, run: str, **headers: str) -> list[dict[str, Any]]:
    reply = caller.get(f"/v1/runs/{run}/events", headers=headers)
    assert reply.status_code == 200, reply.text
    assert reply.mimetype == "text/event-stream"
    assert reply.headers["Cache-Control"] == "no-store"
    return list(parsed(reply.text))


def parsed(stream: str) -> Iterator[dict[str, Any]]:
    for frame in stream.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in frame.splitlines() if line[0] != ":")
        if fields:
            yield fields | {"data": json.loads(fields["data"])}


def test_a_run_is_told_from_its_first_word_to_its_end(member: Caller, run: str) -> None:
    told = events(member, run)

    kinds = [each["event"] for each in told]
    assert kinds.index("tool.started") < kinds.index("tool.finished") < kinds.index("turn.finished")
    assert kinds[-1] == "done"
    assert told[-1]["data"] == {"status": "succeeded"}
    words = [each["data"]["delta"].get("text", "") for each in told if "delta" in each["data"]]
    assert "".join(words) == "There is nothing."


def test_each_block_of_an_answer_is_announced_and_told_apart(member: Caller, run: str) -> None:
    told = events(member, run)

    begun = [each["data"] for each in told if each["event"] == "message.block"]
    assert [(each["turn"], each["block"], each["type"]) for each in begun] == [
        (1, 0, "tool_use"),
        (2, 0, "text"),
    ]
    assert (begun[0]["name"], bool(begun[0]["id"])) == ("ls", True)
    deltas = [each["data"] for each in told if each["event"] == "message.delta"]
    assert {(each["turn"], each["block"]) for each in deltas} <= {(1, 0), (2, 0)}


def test_it_goes_on_behind_the_last_event_that_was_seen(member: Caller, run: str) -> None:
    whole = events(member, run)

    rest = events(member, run, **{"Last-Event-ID": whole[2]["id"]})

    assert rest == whole[3:]


def test_what_is_no_longer_kept_is_not_skipped_in_silence(
    member: Caller, runtime: Runtime, run: str
) -> None:
    whole = events(member, run)
    runtime.redis.xtrim(stream_of(UUID(run)), maxlen=2, approximate=False)

    rest = events(member, run, **{"Last-Event-ID": whole[0]["id"]})

    assert [each["event"] for each in rest] == ["reset", whole[-2]["event"], "done"]


def test_without_its_stream_a_run_has_still_ended(
    member: Caller, runtime: Runtime, run: str
) -> None:
    runtime.redis.flushdb()

    (done,) = events(member, run)

    assert (done["event"], done["data"]) == ("done", {"status": "succeeded"})


def test_an_end_that_nobody_told_is_found_out(
    member: Caller, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "_LOOK_EVERY", 0)
    begun = member.post(f"/v1/sessions/{make_session(member)}/runs", json={"message": "hi"})
    following = member.get(f"/v1/runs/{begun.json['id']}/events", buffered=False)
    with runtime.database.transaction(member.principal) as tx:
        tx.runs.cancel(UUID(begun.json["id"]))

    assert "event: done" in following.text


@pytest.mark.parametrize("last", ["soon", "1", "1-", "-1-1", "*"])
def test_an_id_that_no_event_has_is_refused(member: Caller, run: str, last: str) -> None:
    refused = member.get(f"/v1/runs/{run}/events", headers={"Last-Event-ID": last})

    assert (refused.status_code, refused.json["code"]) == (422, "bad_parameter")


def test_who_follows_takes_a_place_and_gives_it_back(
    app: Flask, member: Caller, runtime: Runtime, run: str
) -> None:
    for _ in range(runtime.settings.max_streams + 1):
        assert events(member, run)[-1]["event"] == "done"
    begun = member.post(f"/v1/sessions/{make_session(member)}/runs", json={"message": "hi"})
    path = f"/v1/runs/{begun.json['id']}/events"
    open_ones = [member.get(path, buffered=False) for _ in range(runtime.settings.max_streams)]

    refused = member.get(path)

    assert (refused.status_code, refused.json["code"]) == (503, "too_many_wait")
    assert refused.headers["Retry-After"] == "1"
    for each in open_ones:
        each.close()
    member.delete(f"/v1/runs/{begun.json['id']}")
    assert events(member, begun.json["id"])[-1]["event"] == "done"
