"""Signing in on the admin page: the cookie, how long it lasts, and what no other site can do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from http.cookies import SimpleCookie
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import NullPool, create_engine, text
from werkzeug.test import TestResponse

from app.domain import keys, web_sessions
from app.runtime import Runtime
from app.services.web_sessions import purge
from app.settings import Settings
from app.web import create_app
from tests.api.problems import assert_problem
from tests.factories import Caller, append, made, make_agent, make_session
from tests.history import user

HOME = {"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"}
NAME = "hango"


@dataclass
class Browser:
    """A browser with one cookie jar, on hango's page."""

    client: FlaskClient
    csrf: str = ""

    def sign_in(self, key: str, **headers: str) -> TestResponse:
        reply = self.client.post("/v1/web-session", json={"key": key}, headers=HOME | headers)
        if reply.status_code == 201:
            self.csrf = reply.json["csrf_token"]
        return reply

    def ask(self, method: str, path: str, **request: Any) -> TestResponse:
        headers = {"X-CSRF-Token": self.csrf, **HOME, **request.pop("headers", {})}
        return self.client.open(path, method=method, headers=headers, **request)

    @property
    def cookie(self) -> str:
        found = self.client.get_cookie(NAME)
        return found.value if found else ""


@pytest.fixture
def browser(app: Flask) -> Browser:
    return Browser(app.test_client())


@pytest.fixture
def signed_in(browser: Browser, member: Caller) -> Browser:
    assert browser.sign_in(member.key).status_code == 201
    return browser


@pytest.fixture
def sql(settings: Settings) -> Iterator[Callable[[str], Any]]:
    """Run a statement as the owner of the tables; its first value, if it gives any."""
    owner = create_engine(settings.admin_database_url, poolclass=NullPool)

    def run(statement: str) -> Any:
        with owner.begin() as connection:
            done = connection.execute(text(statement))
            return done.scalar() if done.returns_rows else None

    yield run
    owner.dispose()


def cookie_of(reply: TestResponse) -> Any:
    """The one cookie that the answer sets, with its flags."""
    (line,) = reply.headers.getlist("Set-Cookie")
    ((_, morsel),) = SimpleCookie(line).items()
    return morsel


class TestSigningIn:
    def test_a_key_becomes_a_cookie_that_no_script_reads(
        self, browser: Browser, member: Caller
    ) -> None:
        reply = browser.sign_in(member.key)

        assert reply.status_code == 201
        cookie = cookie_of(reply)
        assert cookie.key == "hango"
        assert cookie["httponly"] is True
        assert cookie["samesite"] == "Strict"
        assert (cookie["path"], cookie["domain"], cookie["secure"]) == ("/", "", "")
        assert cookie["max-age"] == str(24 * 60 * 60)
        assert reply.headers["Cache-Control"] == "no-store"
        assert member.key not in reply.text
        assert cookie.value not in reply.text

    def test_it_tells_who_is_signed_in_and_until_when(
        self, signed_in: Browser, member: Caller, tenant: object
    ) -> None:
        told = signed_in.ask("GET", "/v1/web-session").json

        me = member.get("/v1/me").json
        assert {name: told[name] for name in me} == me
        begun, idle, over = (
            datetime.fromisoformat(told[each])
            for each in ("created_at", "idle_expires_at", "expires_at")
        )
        assert over - begun == timedelta(hours=24)
        assert timedelta() <= begun + timedelta(hours=4) - idle < timedelta(minutes=1)
        assert told["csrf_token"] == signed_in.csrf

    def test_under_tls_the_cookie_is_bound_to_the_host(
        self, runtime: Runtime, member: Caller
    ) -> None:
        settings = replace(runtime.settings, public_url="https://hango.example.com")
        client = create_app(replace(runtime, settings=settings)).test_client()

        origin = {"Origin": "https://hango.example.com", "Sec-Fetch-Site": "same-origin"}
        reply = client.post("/v1/web-session", json={"key": member.key}, headers=origin)

        cookie = cookie_of(reply)
        assert (cookie.key, cookie["secure"], cookie["path"]) == ("__Host-hango", True, "/")
        assert cookie["domain"] == ""
        assert reply.headers["Strict-Transport-Security"]
        other = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
        refused = client.post("/v1/web-session", json={"key": member.key}, headers=other)
        assert_problem(refused, 403, "cross_site")

    @pytest.mark.parametrize("key", ["", "hk_x_y", "k\xe9y", "x" * 100_000, "unknown"])
    def test_a_bad_key_gets_the_answer_of_every_other_route(
        self, key: str, browser: Browser
    ) -> None:
        key = keys.mint().text if key == "unknown" else key

        refused, elsewhere = browser.sign_in(key), browser.client.get("/v1/me")

        mine, theirs = assert_problem(refused, 401, "unauthorized"), elsewhere.json
        assert mine | {"request_id": ""} == theirs | {"request_id": ""}
        assert set(refused.headers.keys()) == set(elsewhere.headers.keys())
        assert browser.cookie == ""

    def test_a_key_that_was_pasted_with_blanks_is_taken(
        self, browser: Browser, member: Caller
    ) -> None:
        assert browser.sign_in(f"  {member.key}\n").status_code == 201

    def test_guesses_are_limited_by_address_and_lock_nobody_out(
        self, runtime: Runtime, member: Caller
    ) -> None:
        settings = replace(runtime.settings, rate_limit_per_minute=600)
        browser = Browser(create_app(replace(runtime, settings=settings)).test_client())

        answers = [browser.sign_in("guess").status_code for _ in range(21)]

        assert answers == [401] * 20 + [429]
        assert browser.sign_in(member.key).status_code == 201

    def test_nothing_of_the_token_or_the_key_is_kept_or_logged(
        self,
        signed_in: Browser,
        member: Caller,
        sql: Callable[[str], Any],
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        signed_in.ask("GET", "/v1/web-session")

        logged = capsys.readouterr().out
        assert '"request"' in logged
        for secret in (signed_in.cookie, signed_in.csrf, member.key):
            assert secret not in logged
        stored = sql("SELECT string_agg(t::text, '') FROM web_sessions t")
        assert signed_in.cookie not in stored
        assert web_sessions.token_hash(signed_in.cookie).hex() in stored

    def test_a_token_from_before_is_never_taken_over(
        self, browser: Browser, member: Caller, other_member: Caller
    ) -> None:
        planted = web_sessions.mint()
        browser.client.set_cookie(NAME, planted)

        browser.sign_in(member.key)
        first = browser.cookie
        browser.sign_in(other_member.key)

        assert len({planted, first, browser.cookie}) == 3
        left = browser.client.application.test_client()
        left.set_cookie(NAME, first)
        assert_problem(left.get("/v1/me"), 401)
        assert browser.ask("GET", "/v1/me").json["user"]["name"] == "noa"


class TestSigningOut:
    def test_it_ends_the_web_session_and_the_cookie(self, signed_in: Browser) -> None:
        token = signed_in.cookie

        reply = signed_in.ask("DELETE", "/v1/web-session")

        assert reply.status_code == 204
        assert cookie_of(reply)["max-age"] == "0"
        assert signed_in.cookie == ""
        signed_in.client.set_cookie(NAME, token)
        assert_problem(signed_in.ask("GET", "/v1/me"), 401, "unauthorized")

    def test_other_web_sessions_of_the_key_stay(
        self, signed_in: Browser, member: Caller, app: Flask
    ) -> None:
        elsewhere = Browser(app.test_client())
        elsewhere.sign_in(member.key)

        signed_in.ask("DELETE", "/v1/web-session")

        assert elsewhere.ask("GET", "/v1/me").status_code == 200

    def test_in_and_out_are_audited(self, signed_in: Browser, member: Caller) -> None:
        signed_in.ask("DELETE", "/v1/web-session")

        out, into = member.get("/v1/audit").json["items"][:2]

        assert [into["action"], out["action"]] == ["web.sign_in", "web.sign_out"]
        assert into["target_kind"] == "web_session"
        assert into["target_id"] == out["target_id"]
        assert into["key_id"] == str(member.principal.key_id)
        assert into["address"]


class TestItsEnd:
    """Whatever ends it, the next request is told as one without a key is."""

    def assert_over(self, browser: Browser) -> None:
        problem = assert_problem(browser.ask("GET", "/v1/web-session"), 401, "unauthorized")
        assert "detail" not in problem

    def test_with_its_key(self, signed_in: Browser, member: Caller) -> None:
        assert signed_in.ask("DELETE", f"/v1/keys/{member.principal.key_id}").status_code == 200

        self.assert_over(signed_in)

    def test_with_its_user(self, signed_in: Browser, admin: Caller, member: Caller) -> None:
        admin.patch(f"/v1/users/{member.principal.user_id}", json={"disabled": True})

        self.assert_over(signed_in)

    def test_when_it_was_not_used(self, signed_in: Browser, sql: Callable[[str], Any]) -> None:
        sql("UPDATE web_sessions SET last_used_at = now() - interval '3 h 59 min'")
        assert signed_in.ask("GET", "/v1/me").status_code == 200
        assert sql("SELECT now() - last_used_at < interval '1 min' FROM web_sessions")

        sql("UPDATE web_sessions SET last_used_at = now() - interval '4 h 1 s'")

        self.assert_over(signed_in)

    def test_when_it_was_used_for_too_long(
        self, signed_in: Browser, sql: Callable[[str], Any]
    ) -> None:
        sql("UPDATE web_sessions SET expires_at = now() - interval '1 ms'")

        self.assert_over(signed_in)

    def test_it_never_outlives_a_key_that_expires(
        self, browser: Browser, member: Caller, runtime: Runtime
    ) -> None:
        soon = (runtime.now() + timedelta(hours=1)).isoformat()
        key = made(member.post("/v1/keys", json={"name": "short", "expires_at": soon}))

        told = browser.sign_in(key["key"]).json

        assert told["expires_at"] == told["idle_expires_at"] == key["expires_at"]

    def test_a_change_of_role_counts_at_once(
        self, signed_in: Browser, admin: Caller, member: Caller
    ) -> None:
        assert signed_in.ask("GET", "/v1/users").status_code == 404

        admin.patch(f"/v1/users/{member.principal.user_id}", json={"role": "admin"})

        assert signed_in.ask("GET", "/v1/users").status_code == 200

    def test_what_is_over_is_purged(
        self, signed_in: Browser, member: Caller, runtime: Runtime, sql: Callable[[str], Any]
    ) -> None:
        sql("UPDATE web_sessions SET last_used_at = now() - interval '5 h'")
        Browser(signed_in.client.application.test_client()).sign_in(member.key)

        purge(runtime)

        assert sql("SELECT count(*) FROM web_sessions") == 1


class TestOtherSites:
    """A browser sends the cookie along; nothing changes without what only the page knows."""

    @pytest.fixture
    def agent(self, member: Caller) -> str:
        return make_agent(member)

    @pytest.mark.parametrize(
        "headers",
        [
            {"X-CSRF-Token": ""},
            {"X-CSRF-Token": "guess"},
            {"X-CSRF-Token": "k\xe9y"},
            {"X-CSRF-Token": web_sessions.csrf_token("of another web session")},
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
            {"Origin": "http://localhost.evil.example"},
            {"Origin": "http://localhost:8000"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
            {"Sec-Fetch-Site": "none"},
        ],
        ids=str,
    )
    def test_they_change_nothing(
        self, headers: dict[str, str], signed_in: Browser, agent: str, member: Caller
    ) -> None:
        for method, path, body in (
            ("POST", "/v1/sessions", {"agent_id": agent}),
            ("PUT", f"/v1/agents/{agent}/memory/memories/a.md", {"content": "x"}),
            ("PATCH", f"/v1/agents/{agent}", {"name": "x"}),
            ("DELETE", f"/v1/agents/{agent}", None),
        ):
            reply = signed_in.ask(method, path, headers=headers, json=body)

            problem = assert_problem(reply, 403, "cross_site")
            assert signed_in.csrf not in str(problem)
        assert member.get("/v1/sessions").json["items"] == []
        assert member.get(f"/v1/agents/{agent}").json["name"] == "helper"

    def test_they_sign_nobody_in_or_out(self, signed_in: Browser, admin: Caller) -> None:
        evil = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}

        assert_problem(signed_in.sign_in(admin.key, **evil), 403, "cross_site")
        assert_problem(signed_in.ask("DELETE", "/v1/web-session", headers=evil), 403)

        assert signed_in.ask("GET", "/v1/me").json["user"]["name"] == "mia"

    def test_they_cannot_send_a_form(self, browser: Browser, member: Caller) -> None:
        form = browser.client.post("/v1/web-session", data={"key": member.key})
        plain = browser.client.post(
            "/v1/web-session", data=f'{{"key": "{member.key}"}}', content_type="text/plain"
        )

        assert_problem(form, 415)
        assert_problem(plain, 415)

    def test_they_are_told_nothing(self, signed_in: Browser) -> None:
        headers = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
        read = signed_in.client.get("/v1/web-session", headers=headers)
        preflight = signed_in.client.options(
            "/v1/web-session",
            headers=headers | {"Access-Control-Request-Method": "DELETE"},
        )

        for reply in (read, preflight):
            assert not [name for name in dict(reply.headers) if name.startswith("Access-Control")]

    def test_the_page_itself_changes_what_it_may(self, signed_in: Browser, agent: str) -> None:
        reply = signed_in.ask("PATCH", f"/v1/agents/{agent}", json={"name": "mine"})

        assert reply.json["name"] == "mine"

    def test_a_key_in_a_header_needs_no_token(self, signed_in: Browser, member: Caller) -> None:
        headers = {"Authorization": f"Bearer {member.key}", "Origin": "https://evil.example"}

        made(signed_in.client.post("/v1/agents", json={"name": "by key"}, headers=headers))


class TestCookieAndKey:
    """Where a request shows a key, good or not, the cookie counts for nothing."""

    def test_the_key_says_who_asks(self, signed_in: Browser, admin: Caller) -> None:
        reply = signed_in.ask("GET", "/v1/me", headers={"x-api-key": admin.key})

        assert reply.json["user"]["name"] == "ada"

    @pytest.mark.parametrize("headers", [{"x-api-key": ""}, {"Authorization": "Bearer x"}])
    def test_a_bad_key_is_not_made_good(self, headers: dict[str, str], signed_in: Browser) -> None:
        assert_problem(signed_in.ask("GET", "/v1/me", headers=headers), 401)

    def test_a_key_alone_has_no_web_session(self, signed_in: Browser, member: Caller) -> None:
        for method in ("GET", "DELETE"):
            assert_problem(member.open("/v1/web-session", method=method), 401, "unauthorized")

        key = {"x-api-key": member.key}
        assert_problem(signed_in.ask("DELETE", "/v1/web-session", headers=key), 401)
        assert signed_in.ask("GET", "/v1/web-session").status_code == 200

    @pytest.mark.parametrize("value", ["", "x", "k" * 43, "k" * 100_000, "hk_x_y"])
    def test_a_bad_cookie_is_no_key(self, value: str, browser: Browser) -> None:
        reply = browser.ask("GET", "/v1/me", headers={"Cookie": f"{NAME}={value}"})

        assert_problem(reply, 401, "unauthorized")

    def test_two_cookies_are_none(self, signed_in: Browser, app: Flask) -> None:
        mine, planted = signed_in.cookie, web_sessions.mint()
        header = {"Cookie": f"{NAME}={planted}; {NAME}={mine}"}

        reply = app.test_client(use_cookies=False).get("/v1/me", headers=header)

        assert_problem(reply, 401)


def test_what_is_another_members_is_not_there_for_the_cookie_either(
    signed_in: Browser, other_member: Caller, stranger: Caller
) -> None:
    for caller in (other_member, stranger):
        session = make_session(caller)
        assert_problem(signed_in.ask("GET", f"/v1/sessions/{session}"), 404, "not_found")
        assert_problem(signed_in.ask("DELETE", f"/v1/sessions/{session}"), 404, "not_found")


def test_the_cookie_does_for_everything_that_the_page_shows(
    signed_in: Browser, member: Caller
) -> None:
    session = make_session(member)
    append(member, session, user("hi"))
    run = signed_in.ask("POST", f"/v1/sessions/{session}/runs", json={"message": "go on"})
    run_path = f"/v1/runs/{run.json['id']}"
    assert signed_in.ask("DELETE", run_path).status_code == 200

    for path in ("/context", "/messages", "/context-overrides", "/runs"):
        assert signed_in.ask("GET", f"/v1/sessions/{session}{path}").status_code == 200
    for path in ("/v1/usage?format=csv", "/v1/quota", "/v1/audit", "/v1/keys"):
        assert signed_in.ask("GET", path).status_code == 200
    events = signed_in.ask("GET", f"{run_path}/events")
    assert events.content_type.startswith("text/event-stream")
    assert "event:" in events.text


def test_use_counts_on_the_keys_rate_limit(runtime: Runtime, member: Caller) -> None:
    settings = replace(runtime.settings, rate_limit_per_minute=3)
    limited = create_app(replace(runtime, settings=settings)).test_client()
    browser = Browser(limited)
    browser.sign_in(member.key)

    answers = [browser.ask("GET", "/v1/me").status_code for _ in range(3)]

    assert answers == [200, 200, 429]
    assert_problem(replace(member, client=limited).get("/v1/me"), 429)
