from __future__ import annotations

import io
import os
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from werkzeug.formparser import parse_form_data

from cli.http import Body
from cli.upload import found, multipart
from tests.cli.shell import Canned, Request, Result, on_terminal

Asks = Callable[..., Result]

ANSWER = {
    "agent_id": "a1",
    "session_id": "s1",
    "created": True,
    "report": {
        "format": "claude-code",
        "records": {"read": 12, "by_type": {"user": 8, "queue-operation": 4}},
        "messages": 8,
        "blocks": {"text": 5, "tool_use": 3},
        "failed_results": 0,
        "dropped": {"progress_records": 4},
        "repaired": {"missing_result": 1},
        "kept_not_understood": {},
        "tools": {"count": 0, "in_the_source": False, "names": []},
        "usage": {"found": True, "calls": 3, "last_call_input_tokens": 12000},
        "summary": None,
    },
    "sessions": [{"session_id": "s1", "title": "Main", "messages": 8, "created": True}],
}


def uploaded(request: Request) -> tuple[dict[str, str], list[tuple[str | None, bytes]]]:
    """The form as the server's own parser reads it: its fields, and its files in order."""
    environ: dict[str, Any] = {
        "wsgi.input": io.BytesIO(request.body),
        "CONTENT_TYPE": request.headers["Content-Type"],
        "CONTENT_LENGTH": request.headers["Content-Length"],
        "REQUEST_METHOD": "POST",
    }
    _, form, files = parse_form_data(environ)
    sent = []
    for each in files.getlist("file"):
        sent.append((each.filename, each.read()))
        each.close()
    return dict(form), sent


def test_a_file_is_sent_and_its_report_is_told(server: Canned, asks: Asks, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b'{"type": "user"}\n\x00\xff--\r\n')
    server.answers_json(ANSWER, status=201)

    result = asks("import", str(path), "--format", "claude-code")

    assert (result.code, result.err) == (0, "")
    assert uploaded(server.requests[0]) == (
        {"format": "claude-code"},
        [("session.jsonl", path.read_bytes())],
    )
    assert "Idempotency-Key" in server.requests[0].headers
    assert result.out.splitlines() == [
        "Imported: session s1",
        "format         claude-code",
        "records        12 read, by type (8 user, 4 queue-operation)",
        "messages made  8",
        "blocks made    5 text, 3 tool use",
        "left out       4 progress records",
        "repaired       1 missing result",
        "usage          found, 3 calls, 12,000 last call input tokens",
        "See it: hango context show --session s1",
    ]


def test_the_same_file_again_is_recognised(server: Canned, asks: Asks, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("{}")
    server.answers_json({**ANSWER, "created": False})

    assert asks("import", str(tmp_path / "a.jsonl")).out.startswith("Already imported: session s1")


def test_a_session_that_went_on_is_told_apart(server: Canned, asks: Asks, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("{}")
    sessions = [{"session_id": "s1", "title": "Main", "created": False, "updated": True}]
    server.answers_json({**ANSWER, "created": False, "sessions": sessions})

    assert asks("import", str(tmp_path / "a.jsonl")).out.startswith("Continued: session s1")


def test_a_folder_is_a_session_and_its_subagents(
    server: Canned, asks: Asks, tmp_path: Path
) -> None:
    for name in ("main.jsonl", "main/subagents/agent-1.jsonl", "notes.md", ".cache/x.json"):
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    child = {"session_id": "s2", "title": "Explore\x1b[2J", "messages": 3}
    server.answers_json({**ANSWER, "sessions": [*ANSWER["sessions"], child]})  # type: ignore[misc]

    result = asks("import", str(tmp_path / "project"))

    assert uploaded(server.requests[0])[1] == [
        ("project/main.jsonl", b"main.jsonl"),
        ("project/main/subagents/agent-1.jsonl", b"main/subagents/agent-1.jsonl"),
    ]
    assert "s2       Explore\\x1b[2J         3" in result.out


def test_files_keep_the_order_they_are_given_in(server: Canned, asks: Asks, tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl"):
        (tmp_path / name).write_text(name)
    server.answers_json(ANSWER)

    asks("import", str(tmp_path / "b.jsonl"), str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"))

    assert [name for name, _ in uploaded(server.requests[0])[1]] == ["b.jsonl", "a.jsonl"]


@pytest.mark.parametrize(
    "name", ['quote".jsonl', "日本 #1+50%&.jsonl", "semi;colon.jsonl", "[bold].jsonl"]
)
def test_any_file_name_arrives(server: Canned, asks: Asks, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    server.answers_json(ANSWER)

    assert asks("import", str(tmp_path / name)).code == 0

    assert uploaded(server.requests[0])[1] == [(name, b"x")]


def test_a_file_name_cannot_make_a_header(server: Canned, asks: Asks, tmp_path: Path) -> None:
    name = "a\r\nX-Evil: 1.jsonl"
    (tmp_path / name).write_text("x")
    (tmp_path / os.fsdecode(b"bytes\xff.jsonl")).write_text("y")
    server.answers_json(ANSWER)

    assert asks("import", str(tmp_path)).code == 0

    assert b"\r\nX-Evil" not in server.requests[0].body
    assert len(uploaded(server.requests[0])[1]) == 2


@pytest.mark.parametrize("given", ["nothing.jsonl", "empty"])
def test_what_is_not_there_is_a_usage_error(
    server: Canned, asks: Asks, tmp_path: Path, given: str
) -> None:
    (tmp_path / "empty").mkdir()

    result = asks("import", str(tmp_path / given))

    assert (result.code, server.requests, result.err.count("\n")) == (2, [], 1)


def test_json_is_the_whole_answer(server: Canned, asks: Asks, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("{}")
    server.answers_json(ANSWER)

    assert asks("import", str(tmp_path / "a.jsonl"), "--json").json == ANSWER


def test_a_large_file_is_announced_and_read_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    path.write_bytes(b"x" * 3_000_000)
    sent: list[int] = []

    body = multipart([found(path, "large.jsonl")], {}, sent.append)
    lengths = [len(piece) for piece in body.pieces]

    assert sum(lengths) == body.length
    assert max(lengths) <= 65536
    assert sum(sent) == 3_000_000


def test_a_file_that_grows_is_sent_as_it_was_announced(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one")
    body: Body = multipart([found(path, "a.jsonl")], {}, lambda _: None)
    path.write_bytes(b"one and two")

    assert len(b"".join(body.pieces)) == body.length


def test_a_refusal_before_the_file_is_read_is_heard(
    server: Canned, asks: Asks, tmp_path: Path
) -> None:
    def refuses(handler: BaseHTTPRequestHandler) -> None:
        body = b'{"code": "too_large", "title": "The body is too large"}'
        handler.send_response(413)
        handler.send_header("Content-Type", "application/problem+json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    (tmp_path / "large.jsonl").write_bytes(b"x" * 20_000_000)
    server.reads_bodies = False
    server.does(refuses)

    result = asks("import", str(tmp_path / "large.jsonl"))

    assert (result.code, result.err.count("\n")) in [(2, 1), (1, 1)]
    assert "too large" in result.err or "cut the connection" in result.err


def test_a_long_import_shows_how_far_it_is(server: Canned, asks: Asks, tmp_path: Path) -> None:
    (tmp_path / "large.jsonl").write_bytes(b"x" * 2_000_000)
    (tmp_path / "small.jsonl").write_bytes(b"x")
    server.answers_json(ANSWER)

    large = on_terminal("import", str(tmp_path / "large.jsonl"))
    small = on_terminal("import", str(tmp_path / "small.jsonl"))

    assert "100%" in large.out
    assert "Imported: session s1" in large.out
    assert "%" not in small.out
