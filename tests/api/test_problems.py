"""Every failure, expected or not, is one JSON shape."""

from __future__ import annotations

import json
from dataclasses import replace
from uuid import UUID

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.exceptions import HTTPException, default_exceptions
from werkzeug.routing import Rule

from app import errors
from app.api import access
from app.errors import Failure, Fault
from app.runtime import Runtime, build_runtime
from app.settings import Secret
from app.telemetry import logs
from app.web import create_app
from tests.api.problems import EXTENSIONS, assert_problem
from tests.api.test_access import BODIES, IDS, RULES
from tests.conftest import Process
from tests.factories import Caller

SECRET = "canary-4711"
ANY_ID = str(UUID(int=7))


def every_class(kind: type[Failure] = Failure) -> list[type[Failure]]:
    return [
        each for child in kind.__subclasses__() for each in (child, *every_class(child))
    ]  # fmt: skip


MADE_ALIKE = [kind for kind in every_class() if kind.__init__ is Failure.__init__]


@pytest.fixture(scope="module")
def app_that_fails(process: Process) -> Flask:
    """An application with a route that raises what the test puts into its configuration."""
    made = create_app(process.runtime)

    def fail() -> None:
        raise made.config["ERROR"]

    made.add_url_rule("/fail", "pages.docs_fail", fail)
    return made


@pytest.fixture
def failing(app_that_fails: Flask, runtime: Runtime) -> FlaskClient:
    """Its client."""
    logs.configure("INFO")
    return app_that_fails.test_client()


@pytest.fixture(autouse=True)
def _row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(access.ACCESS, "pages.docs_fail", access.Who.ANYONE)


@pytest.mark.parametrize("kind", MADE_ALIKE, ids=lambda kind: kind.__name__)
def test_each_expected_failure_is_a_problem(
    kind: type[Failure], failing: FlaskClient, app_that_fails: Flask
) -> None:
    more = dict.fromkeys(EXTENSIONS.get(kind.code, ()), "more")
    faults = [Fault("x[1]", "bad", "Do that.")]
    app_that_fails.config["ERROR"] = kind("Do this.", faults=faults, extensions=more)

    reply = failing.get("/fail")

    problem = assert_problem(reply, kind.status)
    if not issubclass(kind, errors.Internal):
        assert problem["code"] == kind.code
        assert problem["detail"] == "Do this."
        assert problem["errors"] == [{"at": "x[1]", "code": "bad", "detail": "Do that."}]


@pytest.mark.parametrize("kind", default_exceptions.values(), ids=lambda kind: kind.__name__)
def test_each_failure_of_the_framework_is_a_problem(
    kind: type[HTTPException], failing: FlaskClient, app_that_fails: Flask
) -> None:
    app_that_fails.config["ERROR"] = kind(SECRET)

    reply = failing.get("/fail")

    assert reply.content_type == "application/problem+json"
    assert SECRET not in reply.text


def test_an_unexpected_failure_tells_the_client_nothing_and_the_log_where(
    failing: FlaskClient, app_that_fails: Flask, capsys: pytest.CaptureFixture[str]
) -> None:
    app_that_fails.config["ERROR"] = ValueError(SECRET)

    reply = failing.get("/fail", headers={"X-Request-Id": "req-1"})

    problem = assert_problem(reply, 500, "internal")
    assert problem.keys() == {"type", "title", "status", "code", "request_id"}
    logged = capsys.readouterr().out
    assert "unexpected_failure" in logged
    assert "req-1" in logged
    assert "ValueError" in logged
    assert SECRET not in logged


UNKNOWN_PATHS = [
    *(
        "/v1",
        "/v1/",
        "/v1/nothing",
        "/v1/agents/",
        "/v1//agents",
        "/v1/agents/7",
        "/V1/agents",
    ),
    *(f"/v1/agents/{ANY_ID}/", f"/v1/agents/{{{ANY_ID}}}", f"/v1/sessions/{ANY_ID}/nothing"),
    *(f"/v1/agents/{ANY_ID.replace('-', '')}", "/v1/agents/%00", "/static/x", "/v1/agents/٤"),
]


def test_an_unknown_path_is_404(member: Caller) -> None:
    for path in UNKNOWN_PATHS:
        assert_problem(member.get(path), 404, "not_found")


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_another_method_is_405_and_names_those_that_are_allowed(
    rule: Rule, client: FlaskClient, app: Flask
) -> None:
    path = rule.rule.replace("<rest:path>", "x").replace("<name>", "x")
    for name in rule.arguments:
        path = path.replace(f"<uuid:{name}>", ANY_ID).replace(f"<int:{name}>", "1")
    adapter = app.url_map.bind("localhost")
    allowed = set(adapter.allowed_methods(path))

    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE"} - allowed:
        reply = client.open(path, method=method)
        assert_problem(reply, 405, "method_not_allowed")
        assert set(reply.headers["Allow"].split(", ")) == allowed


WITH_BODY = [rule for rule in RULES if rule.endpoint in BODIES]
JSON_ONLY = [rule for rule in WITH_BODY if rule.endpoint not in (
    "attachments.create_attachment", "imports.create_import")]  # fmt: skip


def send(caller: Caller, rule: Rule, data: bytes | str, content_type: str | None) -> object:
    path = rule.rule.replace("<rest:path>", "memories/x").replace("<name>", "x")
    for name in rule.arguments:
        path = path.replace(f"<uuid:{name}>", ANY_ID)
    (method,) = rule.methods - {"HEAD", "OPTIONS"}
    return caller.open(path, method=method, data=data, content_type=content_type)


OTHER_TYPES = [None, "", "text/plain", "text/html; charset=utf-8", "multipart/mixed", "json"]
NOT_JSON = [
    *("", "{", "{'a': 1}", '{"a": 1, "a": 1}', "{} {}", "\ufeff{}", b"\xff\xfe", b'{"a": "\xc3"}'),
    *('{"a": NaN}', '{"a": Infinity}', '{"a": 1e999}', '{"a": ' + "9" * 5000 + "}"),
    *("[" * 100_000, '{"a":' * 5_000),
]
NO_OBJECTS = ["null", "[]", '"x"', "5", "true", '[{"name": "x"}]']
UNKNOWN_NAMES = ["tenant_id", "owner_id", "id", "hash", "x\ud800", "", "x" * 10_000]


@pytest.mark.parametrize("rule", WITH_BODY, ids=lambda rule: rule.endpoint)
def test_what_is_not_sent_as_json_is_415(rule: Rule, admin: Caller) -> None:
    for content_type in OTHER_TYPES:
        reply = send(admin, rule, json.dumps(BODIES[rule.endpoint]), content_type)
        assert_problem(reply, 415, "unsupported_media_type")


@pytest.mark.parametrize("rule", WITH_BODY, ids=lambda rule: rule.endpoint)
def test_what_is_not_json_is_400(rule: Rule, admin: Caller) -> None:
    for body in NOT_JSON:
        assert_problem(send(admin, rule, body, "application/json"), 400, "malformed_body")


@pytest.mark.parametrize("rule", WITH_BODY, ids=lambda rule: rule.endpoint)
def test_json_that_is_no_object_is_422(rule: Rule, admin: Caller) -> None:
    for body in NO_OBJECTS:
        problem = assert_problem(send(admin, rule, body, "application/json"), 422, "bad_body")
        assert problem["errors"][0]["at"] == "body"


@pytest.mark.parametrize("rule", WITH_BODY, ids=lambda rule: rule.endpoint)
def test_an_unknown_field_is_refused(rule: Rule, admin: Caller) -> None:
    for name in UNKNOWN_NAMES:
        body = {**BODIES[rule.endpoint], name: 1}
        problem = assert_problem(
            send(admin, rule, json.dumps(body), "application/json"), 422, "bad_body"
        )
        assert "unknown_field" in [fault["code"] for fault in problem["errors"]]


@pytest.mark.parametrize("rule", JSON_ONLY, ids=lambda rule: rule.endpoint)
def test_a_body_above_the_limit_is_413(rule: Rule, runtime: Runtime, admin: Caller) -> None:
    body = b" " * (runtime.settings.max_body_bytes + 1)

    assert_problem(send(admin, rule, body, "application/json"), 413, "too_large")


@pytest.mark.parametrize(
    ("charset", "status"), [("utf-16", 415), ("latin-1", 415), ("UTF-8", 201), ("utf8", 201)]
)
def test_json_in_another_encoding_is_refused(charset, status, member):
    body = json.dumps({"name": "x", "model": "claude-sonnet-4-5"}).encode()

    reply = member.post(
        "/v1/agents", data=body, content_type=f"application/json; charset={charset}"
    )

    assert reply.status_code == status, reply.text


def test_a_compressed_body_is_415(member: Caller) -> None:
    reply = member.post("/v1/agents", json={"name": "x"}, headers={"Content-Encoding": "gzip"})

    assert_problem(reply, 415)


def test_a_database_that_is_away_is_503(runtime: Runtime) -> None:
    away = replace(runtime.settings, database_url=Secret("postgresql://x@127.0.0.1:9/x"))
    client = create_app(build_runtime(away)).test_client()

    reply = client.get("/v1/me", headers={"Authorization": "Bearer x"})

    assert_problem(reply, 503, "database_unavailable")


def test_every_answer_carries_its_request_id_and_safe_headers(
    client: FlaskClient, member: Caller
) -> None:
    for reply in (client.get("/nothing"), client.get("/v1/me"), member.get("/v1/me")):
        assert UUID(reply.headers["X-Request-Id"]).version == 7
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert reply.headers["Referrer-Policy"] == "no-referrer"
        assert "default-src 'none'" in reply.headers["Content-Security-Policy"]
        assert "Access-Control-Allow-Origin" not in reply.headers
    assert member.get("/v1/me").headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("given", "kept"),
    [("abc-1.2_Z", True), ("x" * 64, True), ("x" * 65, False), ("a b", False), ("é", False),
     ('"}{', False)],
)  # fmt: skip
def test_a_request_id_from_outside_is_kept_when_it_is_harmless(
    given: str, kept: bool, client: FlaskClient
) -> None:
    reply = client.get("/healthz", headers={"X-Request-Id": given})

    assert (reply.headers["X-Request-Id"] == given) is kept
