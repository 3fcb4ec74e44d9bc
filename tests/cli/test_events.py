"""Streams of events from servers and networks that misbehave."""

from __future__ import annotations

import pytest

import cli.events
from cli import configuration
from cli.events import Event, follow, parsed
from cli.http import Api
from tests.cli.shell import KEY, Canned
from tests.cli.streams import DELTA, frame, streams


@pytest.fixture
def api(server: Canned, monkeypatch: pytest.MonkeyPatch) -> Api:
    monkeypatch.setattr(cli.events, "PAUSE_SECONDS", 0)
    return Api(configuration.server(server.url, KEY, None), 5)


def test_a_stream_that_breaks_is_taken_up_behind_its_last_event(server: Canned, api: Api) -> None:
    half = frame("message.delta", DELTA, "1-2")[:-20]
    server.does(streams(frame("message.delta", DELTA, "1-1"), half))
    server.does(streams(frame("message.delta", DELTA, "1-2"), frame("done", {}, "1-3")))

    told = list(follow(api, "r"))

    assert [each.id for each in told] == ["1-1", "1-2", "1-3"]
    assert [each.headers.get("Last-Event-ID") for each in server.requests] == [None, "1-1"]


def test_a_stream_that_always_breaks_is_given_up(server: Canned, api: Api) -> None:
    server.does(streams())

    assert list(follow(api, "r")) == []
    assert len(server.requests) == cli.events.MOST_BREAKS + 1


@pytest.mark.parametrize("status", [404, 503])
def test_a_server_that_will_not_stream_is_asked_once(server: Canned, api: Api, status: int) -> None:
    server.answers_json({"code": "too_many_wait"}, status=status)

    assert list(follow(api, "r")) == []
    assert len(server.requests) == 1


def test_something_else_than_a_stream_is_no_events(server: Canned, api: Api) -> None:
    server.answers_raw(b"<html>", "text/html")

    assert list(follow(api, "r")) == []


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b": still here\n\n", []),
        (b"event: done\ndata: {}\n\n", [Event("done", {})]),
        (b"event:done\r\ndata:{}\r\n\r\n", [Event("done", {})]),
        (b'data: {"a":\ndata: 1}\n\n', [Event("message", {"a": 1})]),
        (b"event: done\ndata: [1]\n\n", []),
        (b"event: done\ndata: {\n\n", []),
        (b"event: done\ndata: {}\n", []),
        (b"\xff\nevent: done\ndata: {}\n\n", [Event("done", {})]),
    ],
)
def test_the_form_of_events(raw: bytes, told: list[Event]) -> None:
    assert list(parsed(raw.splitlines(keepends=True))) == told
