from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler
from threading import Event
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.http import target
from tests.cli.shell import KEY, Canned, Result

Asks = Callable[..., Result]

ODD_PARTS = [
    "system:memory:/memories/AGENTS.md",
    "system:memory:/memories/a+b.md",
    "system:memory:/memories/R&D #1 50%.md",
    "system:memory:/memories/日本.md",
    "system:memory:/memories//x/../y.md",
    "tool:a?b=c",
    "system:memory:/%2F%00",
]


@pytest.mark.parametrize("part", ODD_PARTS)
def test_a_part_id_arrives_as_it_was_typed(server: Canned, asks: Asks, part: str) -> None:
    server.answers_json({"text": "whole"})

    result = asks("context", "show", "--session", "s/1 #2+3%", "--full", part)

    assert (result.code, result.out) == (0, "whole")
    sent = urlsplit(server.requests[0].target)
    assert parse_qs(sent.query, strict_parsing=True) == {"full": [part]}
    assert [unquote(each) for each in sent.path.split("/")] == [
        "", "v1", "sessions", "s/1 #2+3%", "context",
    ]  # fmt: skip


@given(st.lists(st.text(min_size=1), min_size=1), st.text())
def test_every_path_and_query_can_be_read_back(segments: list[str], value: str) -> None:
    if {".", ".."} & set(segments):
        return
    sent = urlsplit(target(segments, {"q": value, "none": None}))

    assert [unquote(each) for each in sent.path.split("/")[1:]] == segments
    assert parse_qs(sent.query, keep_blank_values=True) == {"q": [value]}
    assert (sent.path + sent.query).isascii()


@pytest.mark.parametrize("session", ["", ".", ".."])
def test_an_id_that_would_be_another_path_is_not_sent(
    server: Canned, asks: Asks, session: str
) -> None:
    result = asks("sessions", "show", session)

    assert (result.code, server.requests) == (2, [])
    assert "is no id" in result.err


def test_the_key_is_sent_and_stays_out_of_messages(server: Canned, asks: Asks) -> None:
    server.answers_json({"code": "unauthorized", "title": "A valid API key is needed"}, status=401)

    result = asks("agents", "list")

    assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    assert KEY not in result.out + result.err
    assert "hango login" in result.err


def test_each_request_that_creates_has_its_own_idempotency_key(server: Canned, asks: Asks) -> None:
    server.answers_json({"id": "1"})

    asks("agents", "create", "--name", "a")
    asks("agents", "create", "--name", "a")
    asks("agents", "list")

    keys = [each.headers.get("Idempotency-Key") for each in server.requests]
    assert None not in keys[:2]
    assert keys[0] != keys[1]
    assert keys[2] is None


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, 2), (401, 3), (402, 4), (403, 3), (404, 3), (409, 1), (410, 3), (412, 1), (413, 2),
        (415, 2), (422, 2), (429, 4), (500, 1), (502, 1), (503, 1), (504, 5),
    ],
)  # fmt: skip
def test_every_refusal_has_its_exit_code(
    server: Canned, asks: Asks, status: int, code: int
) -> None:
    document = {"code": "the_code", "title": "No", "detail": "Not so.", "request_id": "r-1"}
    server.answers_json(document, status=status)

    result = asks("agents", "list", "--json")

    assert (result.code, result.out) == (code, "")
    assert result.err.startswith("hango: Not so.")
    assert result.err.rstrip().endswith("(the_code, request r-1)")
    assert result.err.count("\n") == 1


def test_a_refusal_names_what_is_wrong_and_where(server: Canned, asks: Asks) -> None:
    fault = {"at": "messages[0].content", "code": "empty", "detail": "Say something."}
    server.answers_json(
        {"code": "history_refused", "title": "These could never be sent", "errors": [fault] * 9},
        status=422,
    )

    result = asks("messages", "append", "--session", "s", "text")

    assert result.err == (
        "hango: These could never be sent; messages[0].content: Say something; "
        "messages[0].content: Say something; messages[0].content: Say something; and 6 more. "
        "(history_refused)\n"
    )


def test_a_rate_limit_says_when_to_come_back(server: Canned, asks: Asks) -> None:
    server.answers_json(
        {"code": "rate_limited", "title": "Too many"}, status=429, headers={"Retry-After": "17"}
    )

    assert "Try again in 17 s." in asks("agents", "list").err


def test_an_error_that_quotes_markup_or_escapes_is_only_text(server: Canned, asks: Asks) -> None:
    server.answers_json({"code": "x", "detail": "[/x] \x1b[2J\n:memo: [bold]"}, status=404)

    result = asks("agents", "list")

    assert result.code == 3
    assert "[/x] \\x1b[2J\\n:memo: [bold]" in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    "document", [None, [], "no", {"code": 5, "title": [], "errors": {"a": 1}}, {"errors": [None]}]
)
def test_a_problem_of_any_shape_is_one_line(server: Canned, asks: Asks, document: Any) -> None:
    server.answers_json(document, status=500)

    result = asks("agents", "list")

    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "500" in result.err


def test_html_is_not_a_server_of_hango(server: Canned, asks: Asks) -> None:
    server.answers_raw(b"<!doctype html><h1>Hello</h1>", "text/html; charset=utf-8")

    result = asks("agents", "list")

    assert (result.code, result.out) == (1, "")
    assert "text/html" in result.err
    assert "--url" in result.err
    assert "<h1>" not in result.err


def test_a_proxy_that_gave_up_is_a_time_out(server: Canned, asks: Asks) -> None:
    server.answers_raw(b"<h1>504</h1>", "text/html", status=504)

    assert asks("agents", "list").code == 5


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000, b'{"a": ' + b"9" * 5000])
def test_broken_json_is_one_line(server: Canned, asks: Asks, body: bytes) -> None:
    server.answers_raw(body, "application/json")

    result = asks("agents", "list")

    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "broken JSON" in result.err


def test_a_redirect_is_not_followed(server: Canned, asks: Asks) -> None:
    server.answers_raw(b"", "text/html", status=302, headers={"Location": f"{server.url}/x"})

    result = asks("agents", "list")

    assert (result.code, len(server.requests)) == (1, 1)
    assert f"redirects to {server.url}/x" in result.err


def test_half_an_answer_is_no_answer(server: Canned, asks: Asks) -> None:
    server.answers_raw(b'{"items":[]', "application/json", headers={"Content-Length": "500"})

    result = asks("agents", "list")

    assert (result.code, result.out) == (1, "")
    assert "cut the connection" in result.err


def _hangs_up(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def _speaks_no_http(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")


def _cuts_a_chunk(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"ff\r\n{}")
    _hangs_up(handler)


@pytest.mark.parametrize("does", [_hangs_up, _speaks_no_http, _cuts_a_chunk])
def test_a_cut_connection_is_one_line(
    server: Canned, asks: Asks, does: Callable[[BaseHTTPRequestHandler], None]
) -> None:
    server.does(does)

    result = asks("agents", "list")

    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "cut the connection, or does not speak HTTP" in result.err


@pytest.fixture
def released() -> Iterator[Event]:
    event = Event()
    yield event
    event.set()


def test_a_server_that_says_nothing_is_a_time_out(
    server: Canned, asks: Asks, released: Event
) -> None:
    server.does(lambda _: released.wait() or None)

    result = asks("agents", "list", "--timeout", "0.2")
    released.set()

    assert result.code == 5
    assert "did not answer within 0.2 s" in result.err
    assert "--timeout" in result.err


def test_a_server_that_trickles_is_a_time_out(server: Canned, asks: Asks, released: Event) -> None:
    def trickles(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        for _ in range(150):  # then it cuts the connection, which is another failure
            if released.wait(0.02):
                return
            handler.wfile.write(b" ")

    server.does(trickles)

    result = asks("agents", "list", "--timeout", "0.3")
    released.set()

    assert result.code == 5


def test_nobody_at_the_address(hango: Asks) -> None:
    with closing(socket.socket()) as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"

        result = hango("agents", "list", "--url", url, "--key", KEY)

    assert (result.code, result.err.count("\n")) == (1, 1)
    assert f"No server answers at {url}" in result.err
    assert "hango up" in result.err


def test_https_to_a_plain_server_says_so(server: Canned, hango: Asks) -> None:
    server.answers_json({})

    result = hango("agents", "list", "--url", server.url.replace("http:", "https:"), "--key", KEY)

    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "No secure connection" in result.err


def test_a_server_below_a_path(server: Canned, hango: Asks) -> None:
    server.answers_json({"items": [], "next": None})

    result = hango("agents", "list", "--url", f"{server.url}/tools/hango/", "--key", KEY)

    assert result.code == 0
    assert server.requests[0].target.startswith("/tools/hango/v1/agents?")
