"""Keys: what is taken, and one answer for everything that is not."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import Engine, event

from app.api.auth import presented_key
from app.domain import keys
from app.domain.ids import rfc3339
from app.runtime import Runtime
from tests.api.problems import assert_problem
from tests.factories import Caller, an_api_key, make_session

STRANGE = [
    {},
    {"Authorization": ""},
    {"Authorization": "Bearer"},
    {"Authorization": "bearer "},
    {"Authorization": "Bearer k\xe9y"},
    {"Authorization": "Bearer " + "k" * 100_000},
    {"Authorization": "Bearer hk_x_y"},
    {"Authorization": "Bearer " + keys.mint().text},
    {"Authorization": "Basic aGk6aGk="},
    {"Authorization": "Bearer \u00a0x"},
    {"x-api-key": ""},
    {"x-api-key": "k\xe9y"},
    {"x-api-key": keys.mint().text},
]


@pytest.mark.parametrize("headers", STRANGE, ids=range(len(STRANGE)))
def test_whatever_is_no_good_key_gets_one_answer(
    headers: dict[str, str], client: FlaskClient, capsys: pytest.CaptureFixture[str]
) -> None:
    reply = client.get("/v1/sessions", headers=headers)

    problem = assert_problem(reply, 401, "unauthorized")
    assert problem.keys() == {"type", "title", "status", "code", "request_id"}
    assert reply.headers["WWW-Authenticate"] == "Bearer"
    logged = capsys.readouterr().out
    assert "unexpected_failure" not in logged
    for value in headers.values():
        secret = value.removeprefix("Bearer").strip()
        assert not secret or secret not in logged


def test_a_key_is_taken_from_either_header(member: Caller, client: FlaskClient) -> None:
    for headers in (
        {"Authorization": f"Bearer {member.key}"},
        {"Authorization": f"bearer   {member.key}"},
        {"x-api-key": member.key},
        {"x-api-key": member.key, "Authorization": f"Bearer {member.key}"},
    ):
        assert client.get("/v1/me", headers=headers).status_code == 200


def test_two_keys_are_none(member: Caller, admin: Caller, client: FlaskClient) -> None:
    both = [("Authorization", f"Bearer {caller.key}") for caller in (member, admin)]
    mixed = {"Authorization": f"Bearer {member.key}", "x-api-key": admin.key}

    assert_problem(client.get("/v1/me", headers=both), 401)
    assert_problem(client.get("/v1/me", headers=mixed), 401)


def test_a_wrong_secret_with_a_right_id_is_refused(member: Caller, client: FlaskClient) -> None:
    public = member.key.split("_")[1]
    forged = member.key.replace(public, keys.mint().public_id)

    assert_problem(client.get("/v1/me", headers={"x-api-key": forged}), 401)


def test_a_revoked_key_is_refused_at_once(member: Caller) -> None:
    assert member.delete(f"/v1/keys/{member.principal.key_id}").status_code == 200

    assert_problem(member.get("/v1/me"), 401)


def test_an_expired_key_is_refused(member: Caller, runtime: Runtime, client: FlaskClient) -> None:
    minted = keys.mint()
    with runtime.database.transaction(member.principal) as tx:
        user = tx.users.get(member.principal.user_id)
        past = rfc3339(runtime.now() - timedelta(seconds=1))
        tx.keys.add(an_api_key(user, minted.public_id, expires_at=past), minted.hash)

    assert_problem(client.get("/v1/me", headers={"x-api-key": minted.text}), 401)


@pytest.fixture
def statements() -> Iterator[list[str]]:
    """Every SQL statement from here on."""
    seen: list[str] = []

    def note(*call: object) -> None:
        seen.append(str(call[2]))

    event.listen(Engine, "before_cursor_execute", note)
    yield seen
    event.remove(Engine, "before_cursor_execute", note)


def test_every_cause_takes_the_same_way_through_the_database(
    member: Caller, client: FlaskClient, statements: list[str]
) -> None:
    ways = []
    for headers in STRANGE:
        statements.clear()
        assert client.get("/v1/me", headers=headers).status_code == 401
        ways.append(list(statements))

    assert ways[0]
    assert all(way == ways[0] for way in ways)


def test_use_of_a_key_is_noted_at_most_once_a_minute(member: Caller) -> None:
    first = member.get("/v1/me").json["key"]["last_used_at"]
    second = member.get("/v1/me").json["key"]["last_used_at"]

    assert first is not None
    assert first == second


def test_no_key_is_ever_logged(member: Caller, capsys: pytest.CaptureFixture[str]) -> None:
    make_session(member)
    member.get("/v1/nothing", headers={"X-Request-Id": member.key})

    assert member.key not in capsys.readouterr().out


def test_the_docs_need_no_key(client: FlaskClient) -> None:
    for path in ("/healthz", "/readyz", "/docs", "/docs/errors", "/v1/openapi.json"):
        assert client.get(path).status_code == 200


def test_a_scheme_without_a_key_is_no_key(app: Flask) -> None:
    with app.test_request_context(headers={"Authorization": "Token x"}):
        assert presented_key() is None
