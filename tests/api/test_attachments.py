"""Attachments: bytes in, the same bytes out, and never rendered."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import replace
from io import BytesIO

import pytest

from app.runtime import Runtime
from app.web import create_app
from tests.api.problems import assert_problem
from tests.factories import Caller, made, make_session

BYTES = bytes(range(256)) * 10


@pytest.fixture
def attachments(member: Caller) -> str:
    return f"/v1/sessions/{make_session(member)}/attachments"


def test_a_file_comes_back_byte_for_byte(member: Caller, attachments: str) -> None:
    stored = made(member.post(attachments, data={"file": (BytesIO(BYTES), "a.bin", "image/png")}))

    assert stored["name"] == "a.bin"
    assert stored["media_type"] == "image/png"
    assert stored["size_bytes"] == len(BYTES)
    assert stored["sha256"] == hashlib.sha256(BYTES).hexdigest()
    url = f"{attachments}/{stored['id']}"
    assert member.get(url).json == stored
    assert member.get(f"{url}/content").data == BYTES
    assert member.get(attachments).json["items"] == [stored]
    assert member.delete(url).status_code == 204
    assert member.get(f"{url}/content").status_code == 404


def test_a_file_may_come_as_base64(member: Caller, attachments: str) -> None:
    body = {"name": "a.bin", "media_type": "image/png", "data": base64.b64encode(BYTES).decode()}

    stored = made(member.post(attachments, json=body))

    assert member.get(f"{attachments}/{stored['id']}/content").data == BYTES


def test_a_download_is_never_rendered(member: Caller, attachments: str) -> None:
    page = (BytesIO(b"<script>alert(1)</script>"), "x ü.html", "text/html")
    stored = made(member.post(attachments, data={"file": page}))

    reply = member.get(f"{attachments}/{stored['id']}/content")

    assert reply.headers["Content-Disposition"].startswith("attachment;")
    assert "filename*=UTF-8''x%20%C3%BC.html" in reply.headers["Content-Disposition"]
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in reply.headers["Content-Security-Policy"]
    assert reply.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("given", "kept"),
    [("../../etc/passwd", "passwd"), ("C:\\temp\\a.txt", "a.txt"), ("", "file"), ("..", "file"),
     ("a\r\nSet-Cookie: x.txt", "aSet-Cookie: x.txt"), ("x" * 300 + ".pdf", "x" * 251 + ".pdf")],
)  # fmt: skip
def test_a_name_is_made_harmless(member: Caller, attachments: str, given: str, kept: str) -> None:
    reply = member.post(attachments, json={"name": given or "/", "data": "aGk="})
    if reply.status_code == 201:
        assert reply.json["name"] == kept
    else:
        assert_problem(reply, 422, "bad_body")


def test_a_nonsense_type_is_unknown(member: Caller, attachments: str) -> None:
    stored = made(member.post(attachments, data={"file": (BytesIO(b"x"), "x", "a b;c")}))

    assert stored["media_type"] == "application/octet-stream"


@pytest.mark.parametrize(
    "data", [{}, {"file": "text, no file"}, {"other": (BytesIO(b"x"), "x")},
             {"file": [(BytesIO(b"x"), "x"), (BytesIO(b"y"), "y")]}, {"file": (BytesIO(b""), "x")}],
    ids=["nothing", "text", "another field", "two", "empty"],
)  # fmt: skip
def test_a_form_holds_one_file(member: Caller, attachments: str, data: dict[str, object]) -> None:
    reply = member.post(attachments, data=data, content_type="multipart/form-data")

    assert_problem(reply, 422, "bad_body")


@pytest.mark.parametrize("data", ["%%%", "aGk", "aGk=\n", "é", 5, None])
def test_what_is_no_base64_is_refused(member: Caller, attachments: str, data: object) -> None:
    assert_problem(member.post(attachments, json={"name": "x", "data": data}), 422, "bad_body")


def test_an_attachment_above_the_limit_is_413(runtime: Runtime, member: Caller) -> None:
    limited = replace(runtime, settings=replace(runtime.settings, max_attachment_bytes=1000))
    caller = replace(member, client=create_app(limited).test_client())
    attachments = f"/v1/sessions/{make_session(member)}/attachments"

    at_limit = caller.post(attachments, data={"file": (BytesIO(b"x" * 1000), "x")})
    above = caller.post(attachments, data={"file": (BytesIO(b"x" * 1001), "x")})
    form = "multipart/form-data; boundary=x"
    far_above = caller.post(attachments, data=b"x" * 2_000_000, content_type=form)

    assert at_limit.status_code == 201
    assert_problem(above, 413, "too_large")
    assert_problem(far_above, 413, "too_large")


def test_an_attachment_of_another_session_is_not_there(member: Caller, attachments: str) -> None:
    stored = made(member.post(attachments, json={"name": "x", "data": "aGk="}))
    other = f"/v1/sessions/{make_session(member)}/attachments/{stored['id']}"

    assert member.get(other).status_code == 404
    assert member.get(f"{other}/content").status_code == 404
    assert member.delete(other).status_code == 404
