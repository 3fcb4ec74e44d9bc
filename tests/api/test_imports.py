"""Imports: whole sessions from elsewhere, recognised when they come again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from app.runtime import Runtime
from app.web import create_app
from cli.operate.embedded.postgres import PostgresUrls
from tests.api.problems import assert_problem
from tests.factories import Caller

TRANSCRIPTS = Path(__file__).parent.parent / "data" / "transcripts"
CODE = TRANSCRIPTS / "claude-code"
FILES = sorted(path for path in TRANSCRIPTS.rglob("*.json*") if path.stat().st_size < 200_000)
LINES = (CODE / "14-manual-compact.jsonl").read_bytes().splitlines(keepends=True)


def upload(caller: Caller, *files: bytes | Path, **fields: str) -> Any:
    parts = [
        (BytesIO(each if isinstance(each, bytes) else each.read_bytes()), f"file-{number}")
        for number, each in enumerate(files)
    ]
    return caller.post("/v1/imports", data={"file": parts, **fields})


def shown(caller: Caller, session: str) -> Any:
    reply = caller.get(f"/v1/sessions/{session}/context")
    assert reply.status_code == 200, reply.text
    return reply.json


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_transcript_becomes_a_session_that_can_be_sent(member: Caller, path: Path) -> None:
    first = upload(member, path)
    again = upload(member, path)

    assert first.status_code == 201, first.text
    assert first.json["created"] is True
    assert first.json["report"]
    for session in first.json["sessions"]:
        assert shown(member, session["session_id"])["sendable"] is True
        stored = member.get(f"/v1/sessions/{session['session_id']}").json
        assert stored["message_count"] == session["messages"] > 0
    assert again.status_code == 200
    assert again.json["created"] is False
    told = ("session_id", "agent_id", "messages", "parent_session_id", "report")
    assert [[s[name] for name in told] for s in again.json["sessions"]] == [
        [s[name] for name in told] for s in first.json["sessions"]
    ]


def test_a_file_may_come_as_json(member: Caller) -> None:
    path = TRANSCRIPTS / "anthropic-request" / "02-parallel-tools.json"

    made = member.post("/v1/imports", json={"content": path.read_text(encoding="utf-8")})

    assert made.status_code == 201
    assert upload(member, path).json["session_id"] == made.json["session_id"]


def test_a_captured_request_keeps_its_prompt_tools_and_model(member: Caller) -> None:
    path = TRANSCRIPTS / "anthropic-request" / "02-parallel-tools.json"
    sent = json.loads(path.read_bytes())
    body = sent.get("request", sent.get("body", sent))

    made = upload(member, path).json

    agent = member.get(f"/v1/agents/{made['agent_id']}").json
    assert agent["model"] == body["model"]
    assert agent["tools"] == body["tools"]
    parts = [part["id"] for part in shown(member, made["session_id"])["groups"]["tools"]["parts"]]
    assert parts == [f"tool:{tool['name']}" for tool in body["tools"]]


def test_a_session_that_grew_is_continued(member: Caller) -> None:
    early = upload(member, b"".join(LINES[:10])).json
    before = member.get(f"/v1/sessions/{early['session_id']}/messages").json["items"]

    grown = upload(member, b"".join(LINES))
    older = upload(member, b"".join(LINES[:10]))

    assert grown.status_code == 200
    assert grown.json["session_id"] == early["session_id"]
    assert (grown.json["created"], grown.json["updated"]) == (False, True)
    after = member.get(f"/v1/sessions/{early['session_id']}/messages").json["items"]
    assert len(after) > len(before)
    assert after[: len(before)] == before
    ids = [p["id"] for p in shown(member, early["session_id"])["groups"]["messages"]["parts"]]
    assert ids[0] == "summary"
    assert older.json["session_id"] == early["session_id"]
    assert older.json["updated"] is False


def test_a_session_in_which_more_was_said_is_left_alone(member: Caller) -> None:
    early = upload(member, b"".join(LINES[:10])).json["session_id"]
    said = member.post(f"/v1/sessions/{early}/messages", json={"role": "user", "content": "mine"})
    assert said.status_code == 201

    grown = upload(member, b"".join(LINES))

    assert grown.status_code == 201
    assert grown.json["session_id"] != early
    assert grown.json["earlier_session_id"] == early
    stored = member.get(f"/v1/sessions/{early}/messages").json["items"]
    assert stored[-1]["seq"] == said.json["items"][0]["seq"]


def test_a_compaction_is_kept(member: Caller) -> None:
    made = upload(member, b"".join(LINES)).json

    context = shown(member, made["session_id"])

    parts = context["groups"]["messages"]["parts"]
    assert parts[0]["id"] == "summary"
    stored = member.get(f"/v1/sessions/{made['session_id']}/messages").json["items"]
    assert len(stored) > len(parts)


def test_a_subagent_is_a_session_of_its_own_linked_to_its_call(member: Caller) -> None:
    folder = CODE / "15-subagent"
    child = next(folder.rglob("agent-*.jsonl"))

    made = upload(member, folder / "main.jsonl", child).json

    main, sub = made["sessions"]
    assert made["session_id"] == main["session_id"]
    assert sub["parent_session_id"] == main["session_id"]
    messages = member.get(f"/v1/sessions/{main['session_id']}/messages").json["items"]
    calls = [b["id"] for m in messages for b in m["content"] if b["type"] == "tool_use"]
    assert sub["parent_tool_use_id"] in calls


def test_a_subagent_that_comes_later_finds_its_parent(member: Caller) -> None:
    folder = CODE / "15-subagent"
    main = upload(member, folder / "main.jsonl").json

    made = upload(member, folder / "main.jsonl", next(folder.rglob("agent-*.jsonl")))

    assert made.status_code == 201
    assert [session["created"] for session in made.json["sessions"]] == [False, True]
    assert made.json["sessions"][1]["parent_session_id"] == main["session_id"]


def test_others_import_the_same_file_for_themselves(member: Caller, other_member: Caller) -> None:
    mine, theirs = (
        upload(caller, CODE / "03-image-paste.jsonl") for caller in (member, other_member)
    )

    assert (mine.status_code, theirs.status_code) == (201, 201)
    assert mine.json["session_id"] != theirs.json["session_id"]
    assert other_member.get(f"/v1/sessions/{mine.json['session_id']}").status_code == 404


def test_a_deleted_session_can_be_imported_again(member: Caller) -> None:
    first = upload(member, CODE / "03-image-paste.jsonl").json
    member.delete(f"/v1/sessions/{first['session_id']}")

    again = upload(member, CODE / "03-image-paste.jsonl")

    assert again.status_code == 201
    assert again.json["session_id"] != first["session_id"]


@pytest.mark.committed
def test_the_same_file_at_once_becomes_one_session(member: Caller) -> None:
    with ThreadPoolExecutor(6) as pool:
        replies = list(pool.map(lambda _: upload(member, b"".join(LINES)), range(6)))

    assert sorted(reply.status_code for reply in replies) == [200] * 5 + [201]
    assert len({reply.json["session_id"] for reply in replies}) == 1
    assert len(member.get("/v1/sessions").json["items"]) == 1


@pytest.fixture
def broken_imports(postgres_urls: PostgresUrls) -> Iterator[None]:
    """A database that fails at the second session of an import, late in its transaction."""
    with closing(psycopg2.connect(postgres_urls.admin_url)) as connection:
        connection.autocommit = True
        cursor = connection.cursor()
        cursor.execute(
            "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'broken on purpose'; END $$;"
            "CREATE TRIGGER fail BEFORE INSERT ON imports FOR EACH ROW "
            "WHEN (new.source_session_id LIKE '%/%') EXECUTE FUNCTION fail()"
        )
        yield
        cursor.execute("DROP TRIGGER fail ON imports; DROP FUNCTION fail")


def test_an_import_is_never_half_there(member: Caller, broken_imports: None) -> None:
    folder = CODE / "15-subagent"

    reply = upload(member, folder / "main.jsonl", next(folder.rglob("agent-*.jsonl")))

    assert_problem(reply, 500, "internal")
    assert "broken on purpose" not in reply.text
    for path in ("/v1/sessions", "/v1/agents", "/v1/audit"):
        assert member.get(path).json["items"] == []


def test_an_idempotency_key_gives_the_first_answer_again(member: Caller) -> None:
    request: dict[str, Any] = {
        "json": {"content": b"".join(LINES).decode()},
        "headers": {"Idempotency-Key": "k"},
    }

    first, again = (member.post("/v1/imports", **request) for _ in range(2))

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json == first.json
    assert again.headers["Idempotent-Replayed"] == "true"


REFUSED = {
    "text": b"hello",
    "nothing": b"",
    "an empty object": b"{}",
    "a list of numbers": b"[1, 2]",
    "no conversation": b'{"type": "summary", "summary": "x", "leafUuid": "y"}\n',
    "binary": bytes(range(256)),
    "an archive that is none": b"PK\x03\x04" + b"\0" * 50,
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_conversation_is_refused(member: Caller, data: bytes) -> None:
    reply = upload(member, data)

    assert reply.status_code in (400, 422), reply.text
    assert_problem(reply, reply.status_code)
    assert member.get("/v1/sessions").json["items"] == []


def test_a_named_format_is_the_only_one_tried(member: Caller) -> None:
    path = TRANSCRIPTS / "anthropic-request" / "02-parallel-tools.json"

    assert_problem(upload(member, path, format="claude-code"), 422, "import_refused")
    assert_problem(upload(member, path, format="word"), 422, "bad_body")
    assert upload(member, path, format="anthropic-request").status_code == 201


@pytest.mark.parametrize("form", [{}, {"content": "x"}, {"other": (BytesIO(b"x"), "x")}])
def test_a_form_holds_files(member: Caller, form: dict[str, Any]) -> None:
    reply = member.post("/v1/imports", data=dict(form), content_type="multipart/form-data")

    assert_problem(reply, 422, "bad_body")


def test_an_import_above_the_limit_is_413(runtime: Runtime, member: Caller) -> None:
    limited = replace(runtime, settings=replace(runtime.settings, max_import_bytes=1000))
    caller = replace(member, client=create_app(limited).test_client())
    form = "multipart/form-data; boundary=x"

    reply = caller.post("/v1/imports", data=b"x" * 1_100_000, content_type=form)

    assert_problem(reply, 413, "too_large")
