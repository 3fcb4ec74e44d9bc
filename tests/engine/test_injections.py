"""Injections: gathered before each call, part of what it sends, and told how it ended."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from threading import Event
from typing import Any
from uuid import UUID

import psycopg2
import pytest

from app.provider.failures import Overloaded
from app.runtime import Runtime, build_runtime
from app.services import execution, hooks, injections, try_execution, work
from app.settings import Secret, Settings
from app.tools.addresses import Reach
from app.tools.client import OutsideClient
from app.web import create_app
from tests.engine.conftest import Runs, says
from tests.factories import make_agent, make_session
from tests.fakes.outside import Outside, outside
from tests.fakes.providers import ScriptedProvider
from tests.fakes.strict_provider import text, tool_use

JSON = "application/json"
KEY, OTHER_KEY = (base64.b64encode(each * 32).decode() for each in (b"1", b"2"))
SECRET = "Bearer canary-4711"
NOTES = {"type": "retrieval", "name": "notes", "over": ["files"], "passages": 1}


@pytest.fixture
def runtime(settings: Settings, clean_database: None, clean_redis: None) -> Iterator[Runtime]:
    """Which may call servers on loopback, as a deployment can allow."""
    made = build_runtime(
        replace(
            settings, rate_limit_per_minute=0, outbound_allow="127.0.0.1", secret_key=Secret(KEY)
        )
    )
    yield made
    made.database.dispose()
    made.redis.close()
    made.queue.close()


@pytest.fixture
def server() -> Iterator[Outside]:
    with outside() as running:
        running.answer = (200, JSON, b'{"text": "Alice is on holiday."}')
        yield running


def a_hook(server: Outside, path: str = "/answer", **more: Any) -> dict[str, Any]:
    return {"type": "http", "name": "crm", "before_url": server.url(path), **more}


def with_injections(runs: Runs, *injections: Any, **fields: Any) -> str:
    agent = make_agent(runs.alice, injections=list(injections), **fields)
    return make_session(runs.alice, agent)


def told(server: Outside) -> list[Any]:
    return [each.json for each in server.received]


def system_of(body: Any) -> list[str]:
    return [block["text"] for block in body["system"]]


def inspected(runs: Runs, session: str, query: str = "") -> Any:
    reply = runs.alice.get(f"/v1/sessions/{session}/context{query}")
    assert reply.status_code == 200, reply.text
    return reply.json


def part_of(shown: Any, part: str) -> Any:
    return next(each for each in shown["groups"]["system"]["parts"] if each["id"] == part)


def exclude(runs: Runs, session: str, part: str) -> None:
    agent = runs.alice.get(f"/v1/sessions/{session}").json["agent_id"]
    body = {"overrides": [{"part": part, "action": "exclude"}]}
    reply = runs.alice.put(f"/v1/agents/{agent}/context-overrides", json=body)
    assert reply.status_code == 200, reply.text


def test_what_a_hook_says_is_sent_behind_the_cache_mark(runs: Runs, server: Outside) -> None:
    session = with_injections(runs, a_hook(server))
    provider = ScriptedProvider(says(text("Then later.")))

    run = runs.answered(session, provider, "Is Alice there?")

    assert run["status"] == "succeeded"
    *before, last = provider.sent[0]["system"]
    assert last == {"type": "text", "text": "Alice is on holiday."}
    assert "cache_control" in before[-1]
    call = runs.alice.get(f"/v1/runs/{run['id']}/calls/1").json
    (part,) = [each for each in call["parts"] if each["id"] == "system:injection:crm"]
    assert part["included"]
    assert len(part["sha256"]) == 64


def test_a_hook_is_told_what_it_is_for_and_how_it_ended(runs: Runs, server: Outside) -> None:
    session = with_injections(runs, a_hook(server, after_url=server.url("/answer?after")))

    run = runs.answered(session, ScriptedProvider(says(text("Secret answer."))), "Is Alice there?")

    before, after = server.received
    assert (before.method, before.path, after.path) == ("POST", "/answer", "/answer?after")
    assert before.headers["content-type"] == JSON
    agent = runs.alice.get(f"/v1/sessions/{session}").json["agent_id"]
    assert before.json == {
        "event": "before_model_call",
        "call_id": before.json["call_id"],
        "purpose": "turn",
        "agent_id": agent,
        "session_id": session,
        "run_id": run["id"],
        "try_id": None,
        "model": "claude-sonnet-4-5",
        "last_user_text": "Is Alice there?",
    }
    assert after.json["call_id"] == before.json["call_id"]
    assert (after.json["event"], after.json["outcome"]) == ("after_model_call", "succeeded")
    assert after.json["usage"]["input_tokens"] == 100
    assert b"Secret answer." not in after.body
    assert b"Alice" not in after.body


def test_each_call_of_a_run_is_asked_for_and_told(runs: Runs, server: Outside) -> None:
    session = with_injections(runs, a_hook(server))
    provider = ScriptedProvider(says(tool_use("ls", "toolu_1")), says(text("Done.")))

    runs.answered(session, provider, "Look.")

    events = [(each["event"], each.get("last_user_text")) for each in told(server)]
    assert events == 2 * [("before_model_call", "Look."), ("after_model_call", None)]
    assert len({each["call_id"] for each in told(server)}) == 2


@pytest.mark.parametrize("ending", ["provider", "quota", "fault"])
def test_a_hook_that_was_asked_is_told_whatever_ended_the_call(
    runs: Runs, server: Outside, ending: str
) -> None:
    session = with_injections(runs, a_hook(server))

    class Broken(ScriptedProvider):
        def complete(self, body: Any, **bounds: Any) -> Any:
            raise RuntimeError

    class Nameless(ScriptedProvider):
        @property
        def name(self) -> str:
            """Asked for when the call is noted."""
            raise RuntimeError

    providers = {"provider": ScriptedProvider(Overloaded()), "quota": Nameless(), "fault": Broken()}
    run = runs.answered(session, providers[ending])

    assert run["status"] == "failed"
    outcomes = {"provider": "failed", "quota": "not_made", "fault": "unknown"}
    assert [each.get("outcome") for each in told(server)] == [None, outcomes[ending]]


def test_a_hook_is_told_of_a_cancelled_call(
    runs: Runs, server: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "CANCEL_IS_ASKED_EVERY", 0.0)
    run = runs.begin(with_injections(runs, a_hook(server)))

    class Slow(ScriptedProvider):
        def complete(self, body: Any, **bounds: Any) -> Any:
            runs.alice.delete(f"/v1/runs/{run}")
            return super().complete(body, **bounds)

    assert runs.carry_out(run, Slow(says(text("Late."))))["status"] == "cancelled"
    assert told(server)[1]["outcome"] == "cancelled"


def test_a_hook_that_is_silent_holds_up_no_cancelled_run(
    runs: Runs, server: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor when it is told afterwards, and with more hooks than are asked at once."""
    monkeypatch.setattr(work, "CANCEL_IS_ASKED_EVERY", 0.0)
    monkeypatch.setattr(hooks, "LAST_WORD_SECONDS", 0.1)
    answered = Event()

    def cancel(_request: Any) -> Any:
        if not answered.is_set():
            answered.set()
            runs.alice.delete(f"/v1/runs/{run}")
        return (204, "", b"")

    server.answer = cancel
    silent = [a_hook(server, "/silent", name=f"s{n}", timeout_seconds=30) for n in range(10)]
    run = runs.begin(with_injections(runs, a_hook(server), *silent))
    provider = ScriptedProvider(says(text("Late.")))

    ended = runs.carry_out(run, provider)

    assert ended["status"] == "cancelled"
    assert not provider.sent
    assert runs.calls(run) == []
    outcomes = {each.get("outcome") for each in told(server)}
    assert outcomes == {None, "not_made"}


@pytest.mark.parametrize(
    ("path", "answer", "code"),
    [
        ("/silent", None, "outside_too_slow"),
        ("/hang-up", None, "outside_failed"),
        ("/redirect?to=/answer", None, "hook_answer_unusable"),
        ("/answer", (500, JSON, b'{"text": "No."}'), "hook_answer_unusable"),
        ("/answer", (200, JSON, b'{"text": 1}'), "hook_answer_unusable"),
        ("/answer", (200, JSON, b"\xff"), "hook_answer_unusable"),
        ("/answer", (200, JSON, json.dumps({"text": "word " * 3000}).encode()),
         "hook_answer_too_long"),
    ],
)  # fmt: skip
def test_a_hook_that_fails_is_left_out_and_reported(
    runs: Runs, server: Outside, path: str, answer: Any, code: str
) -> None:
    server.answer = answer
    session = with_injections(
        runs, a_hook(server, path, timeout_seconds=0.3, after_url=server.url("/echo"))
    )
    provider = ScriptedProvider(says(text("Hm.")))

    run = runs.answered(session, provider)

    assert run["status"] == "succeeded"
    assert len(provider.sent[0]["system"]) == len(
        inspected(runs, session)["groups"]["system"]["parts"]
    )
    events = runs.alice.get(f"/v1/runs/{run['id']}/events").text
    assert "event: injection.failed" in events
    assert code in events
    call = runs.alice.get(f"/v1/runs/{run['id']}/calls/1").json
    (part,) = [each for each in call["parts"] if each["id"] == "system:injection:crm"]
    assert (part["included"], part["unavailable"]) == (False, code)
    assert told(server)[-1]["outcome"] == "succeeded"  # it was asked


def test_a_server_that_must_not_be_called_is_not(runs: Runs, server: Outside) -> None:
    nowhere = OutsideClient(Reach())
    session = with_injections(runs, a_hook(server))
    run = runs.begin(session)
    provider = ScriptedProvider(says(text("Hm.")))

    execution.execute(replace(runs.runtime, outside=nowhere, provider=provider), UUID(run))

    assert runs.get(run)["status"] == "succeeded"
    assert server.connections == server.received == []
    assert "address_refused" in runs.alice.get(f"/v1/runs/{run}/events").text


@pytest.mark.parametrize("answer", [(204, "", b""), (200, JSON, b'{"text": " "}')])
def test_a_hook_may_have_nothing_to_say(runs: Runs, server: Outside, answer: Any) -> None:
    server.answer = answer
    session = with_injections(runs, a_hook(server))

    run = runs.answered(session, ScriptedProvider(says(text("Hm."))))

    call = runs.alice.get(f"/v1/runs/{run['id']}/calls/1").json
    assert not [each for each in call["parts"] if "injection" in each["id"]]
    assert "injection.failed" not in runs.alice.get(f"/v1/runs/{run['id']}/events").text


class TestInspect:
    def test_nothing_is_gathered_unasked(self, runs: Runs, server: Outside) -> None:
        session = with_injections(runs, a_hook(server))

        shown = inspected(runs, session)

        assert server.received == []
        assert shown["transparent"] is True
        assert shown["injections"] == [
            {"name": "crm", "part": "system:injection:crm", "state": "not_gathered"}
        ]

    def test_asked_for_it_gathers_and_says_so(self, runs: Runs, server: Outside) -> None:
        session = with_injections(runs, a_hook(server))

        shown = inspected(runs, session, "?injections=1")

        assert shown["transparent"] is False
        assert shown["injections"][0]["state"] == "gathered"
        part = part_of(shown, "system:injection:crm")
        assert (part["included"], part["cached_prefix"]) == (True, False)
        before, after = told(server)
        assert (before["purpose"], after["outcome"], after["usage"]) == (
            "inspect",
            "inspected",
            None,
        )

    def test_without_injections_there_is_nothing_to_gather(self, runs: Runs) -> None:
        shown = inspected(runs, make_session(runs.alice), "?injections=1")

        assert shown["transparent"] is True
        assert "injections" not in shown

    def test_a_hook_that_fails_is_shown(self, runs: Runs, server: Outside) -> None:
        session = with_injections(runs, a_hook(server, "/hang-up"))

        shown = inspected(runs, session, "?injections=1")

        assert shown["injections"][0]["state"] == "failed"
        assert part_of(shown, "system:injection:crm")["unavailable"] == "outside_failed"
        full = runs.alice.get(
            f"/v1/sessions/{session}/context?injections=1&full=system:injection:crm"
        )
        assert full.status_code == 404

    def test_its_text_can_be_read(self, runs: Runs, server: Outside) -> None:
        session = with_injections(runs, a_hook(server))

        shown = inspected(runs, session, "?injections=1&full=system:injection:crm")

        assert shown["text"] == "Alice is on holiday."

    def test_what_was_gathered_is_what_is_sent(self, runs: Runs, server: Outside) -> None:
        session = with_injections(runs, a_hook(server))
        run = runs.begin(session, "Well?")
        shown = inspected(runs, session, "?injections=1")

        runs.carry_out(run, ScriptedProvider(says(text("Hm."))))

        (call,) = runs.calls(run)
        assert call["request_sha256"] == shown["request_sha256"]
        assert call["estimated_tokens"] == shown["totals"]["after"]


class TestOverrides:
    def test_an_excluded_one_is_not_gathered(self, runs: Runs, server: Outside) -> None:
        session = with_injections(runs, a_hook(server))
        exclude(runs, session, "system:injection:crm")

        runs.answered(session, ScriptedProvider(says(text("Hm."))))
        shown = inspected(runs, session, "?injections=1")

        assert server.received == []
        assert shown["transparent"] is True
        assert shown["injections"][0]["state"] == "excluded"
        assert shown["overrides"] == {"active": 1, "stale": 0}
        part = part_of(shown, "system:injection:crm")
        assert (part["included"], part["override"]) == (False, "exclude")

    def test_a_hook_hears_of_no_message_that_is_left_out(self, runs: Runs, server: Outside) -> None:
        session = with_injections(runs, a_hook(server))
        runs.answered(session, ScriptedProvider(says(text("Hm."))), "first")
        server.received.clear()
        run = runs.begin(session, "second")
        body = {"overrides": [{"part": "message:3", "action": "replace", "replacement": "third"}]}
        path = f"/v1/sessions/{session}/context-overrides"
        assert runs.alice.put(path, json=body).status_code == 200

        runs.carry_out(run, ScriptedProvider(says(text("Hm."))))

        assert told(server)[0]["last_user_text"] == "third"

    def test_a_try_gathers_too_and_can_leave_one_out(self, runs: Runs, server: Outside) -> None:
        session = with_injections(runs, a_hook(server))
        path = f"/v1/sessions/{session}/context/try"
        with_it = runs.alice.post(path, json={"message": "Hm?"}).json["id"]
        body = {"message": "Hm?", "exclude": ["system:injection:crm"]}
        without = runs.alice.post(path, json=body).json["id"]
        provider = ScriptedProvider(says(text("With.")), says(text("Without.")))

        for each in (with_it, without):
            try_execution.execute(replace(runs.runtime, provider=provider), UUID(each))

        assert "Alice is on holiday." in system_of(provider.sent[0])
        assert "Alice is on holiday." not in system_of(provider.sent[1])
        assert [each["try_id"] for each in told(server)] == [with_it, with_it]


class TestRetrieval:
    def test_the_passage_that_shares_words_is_sent(self, runs: Runs) -> None:
        session = with_injections(runs, NOTES)
        for path, content in (
            ("a", "Tea is in the kitchen.\n\n" + "Nothing else here. " * 80),
            ("b", "The garage holds bicycles."),
        ):
            put = {"content": content}
            assert (
                runs.alice.put(f"/v1/sessions/{session}/files/{path}", json=put).status_code < 300
            )
        provider = ScriptedProvider(says(text("There.")))

        runs.answered(session, provider, "Where are the BICYCLES?")

        assert system_of(provider.sent[0])[-1].endswith(
            "### /b, lines 1 to 1\n\nThe garage holds bicycles."
        )

    def test_memory_is_searched_where_it_is_not_sent_whole(self, runs: Runs) -> None:
        notes = NOTES | {"over": ["memory", "files"]}
        session = with_injections(runs, notes, middleware={"memory": False})
        agent = runs.alice.get(f"/v1/sessions/{session}").json["agent_id"]
        path = f"/v1/agents/{agent}/memory/memories/a.md"
        runs.alice.put(path, json={"content": "Alice likes green tea."})
        provider = ScriptedProvider(says(text("There.")))

        runs.answered(session, provider, "Which tea?")

        assert "/memories/a.md, lines 1 to 1" in system_of(provider.sent[0])[-1]

    def test_what_would_be_sent_twice_is_refused(self, runs: Runs) -> None:
        body = {"name": "a", "injections": [NOTES | {"over": ["memory"]}]}

        reply = runs.alice.post("/v1/agents", json=body)

        assert reply.status_code == 422
        assert reply.json["errors"][0]["code"] == "memory_is_sent_whole"

    def test_what_is_not_searched_is_said(
        self, runs: Runs, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(injections, "MOST_BYTES_SEARCHED", 100)
        session = with_injections(runs, NOTES)
        for path, content in (("a", "tea " * 100), ("b", "coffee")):
            put = {"content": content}
            assert (
                runs.alice.put(f"/v1/sessions/{session}/files/{path}", json=put).status_code < 300
            )

        for asked, state in (("coffee?", "gathered"), ("tea?", "empty")):
            message = {"role": "user", "content": asked}
            runs.alice.post(f"/v1/sessions/{session}/messages", json=message)
            (view,) = inspected(runs, session, "?injections=1")["injections"]
            assert (view["state"], view["code"]) == (state, "files_left_out")

    def test_limits_hold(self, runs: Runs) -> None:
        notes = NOTES | {"tokens": 40, "passages": 50}
        session = with_injections(runs, notes)
        content = "\n\n".join(f"tea number {n} " + "x " * 600 for n in range(5)) + "\n\ntea"
        runs.alice.put(f"/v1/sessions/{session}/files/a", json={"content": content})
        runs.alice.post(f"/v1/sessions/{session}/messages", json={"role": "user", "content": "tea"})

        shown = inspected(runs, session, "?injections=1")

        assert part_of(shown, "system:injection:notes")["tokens"] <= 40


class TestHeaders:
    def hook(self, server: Outside, value: str | None = SECRET) -> dict[str, Any]:
        return a_hook(server, headers={"authorization": value})

    def test_they_are_sent_with_both_and_never_shown(self, runs: Runs, server: Outside) -> None:
        session = with_injections(runs, self.hook(server))
        run = runs.begin(session)
        rows = stored(runs, "SELECT sealed_hook_headers, injections FROM agents")

        runs.carry_out(run, ScriptedProvider(says(text("Hm."))))

        assert [each.headers["authorization"] for each in server.received] == [SECRET, SECRET]
        agent = runs.alice.get(f"/v1/sessions/{session}").json["agent_id"]
        shown = runs.alice.get(f"/v1/agents/{agent}")
        assert shown.json["injections"][0]["headers"] == {"authorization": None}
        loaded = stored(runs, "SELECT loaded FROM runs")
        assert "canary-4711" not in shown.text + rows + loaded

    def test_null_keeps_a_value_and_another_replaces_it(self, runs: Runs, server: Outside) -> None:
        session = with_injections(runs, self.hook(server))
        agent = runs.alice.get(f"/v1/sessions/{session}").json["agent_id"]
        shown = runs.alice.get(f"/v1/agents/{agent}").json["injections"]

        for wanted in (shown, [self.hook(server, "Bearer new")], [a_hook(server)]):
            body = {"injections": wanted}
            assert runs.alice.patch(f"/v1/agents/{agent}", json=body).status_code == 200
            inspected(runs, session, "?injections=1")

        sent = [each.headers.get("authorization") for each in server.received]
        assert sent[::2] == [SECRET, "Bearer new", None]

    def test_null_where_nothing_is_stored_is_refused(self, runs: Runs, server: Outside) -> None:
        body = {"name": "a", "injections": [self.hook(server, None)]}

        reply = runs.alice.post("/v1/agents", json=body)

        assert reply.json["errors"][0]["code"] == "nothing_stored"
        assert reply.json["errors"][0]["at"] == "injections[0].headers.authorization"

    def test_a_lost_key_leaves_the_hook_out(self, runs: Runs, server: Outside) -> None:
        session = with_injections(runs, self.hook(server))
        settings = replace(runs.runtime.settings, secret_key=Secret(OTHER_KEY))
        elsewhere = build_runtime(settings)
        run = runs.begin(session)

        provider = ScriptedProvider(says(text("Hm.")))
        execution.execute(replace(elsewhere, provider=provider), UUID(run))

        assert runs.get(run)["status"] == "succeeded"
        assert server.received == []
        assert "secrets_unavailable" in runs.alice.get(f"/v1/runs/{run}/events").text
        elsewhere.database.dispose()
        elsewhere.redis.close()
        elsewhere.queue.close()

    def test_without_a_key_they_are_refused(self, runs: Runs, server: Outside) -> None:
        bare = build_runtime(replace(runs.runtime.settings, secret_key=Secret("")))
        alice = replace(runs.alice, client=create_app(bare).test_client())

        reply = alice.post("/v1/agents", json={"name": "a", "injections": [self.hook(server)]})

        assert reply.json["code"] == "secrets_unavailable"
        assert runs.alice.get("/v1/agents").json["items"] == []
        bare.database.dispose()
        bare.redis.close()
        bare.queue.close()


def stored(runs: Runs, query: str) -> str:
    url = runs.runtime.settings.admin_database_url
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute(query)
        return str(cursor.fetchall())


@pytest.mark.parametrize(
    ("injection", "at"),
    [
        ({"type": "http", "name": "a"}, "injections[0].before_url"),
        ({"type": "http", "name": "a", "before_url": "ftp://x"}, "injections[0].before_url"),
        ({"type": "http", "name": "a b", "before_url": "https://x.example"}, "injections[0].name"),
        ({"type": "retrieval", "name": "a", "over": []}, "injections[0].over"),
        ({"type": "retrieval", "name": "a"}, "injections[0].over"),
        ({"type": "retrieval", "name": "a", "over": ["files"], "before_url": "https://x.example"},
         "injections[0].before_url"),
        ({"type": "magic", "name": "a"}, "injections[0].type"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(runs: Runs, injection: Any, at: str) -> None:
    reply = runs.alice.post("/v1/agents", json={"name": "a", "injections": [injection]})

    assert reply.status_code == 422
    assert at in [each["at"] for each in reply.json["errors"]], reply.json


def test_an_agent_shows_its_injections_as_they_are_kept(runs: Runs, server: Outside) -> None:
    notes = {"type": "retrieval", "name": "notes", "over": ["files"]}
    agent = make_agent(runs.alice, injections=[notes, a_hook(server)])

    shown = runs.alice.get(f"/v1/agents/{agent}").json["injections"]

    assert shown[0] == notes | {"passages": 5, "tokens": 1000}
    assert shown[1]["timeout_seconds"] == 5.0
    again = runs.alice.patch(f"/v1/agents/{agent}", json={"injections": shown})
    assert again.status_code == 200, again.text
    assert again.json["injections"] == shown


def test_two_of_one_name_are_refused(runs: Runs, server: Outside) -> None:
    reply = runs.alice.post(
        "/v1/agents", json={"name": "a", "injections": [a_hook(server), a_hook(server)]}
    )

    assert reply.json["errors"][0]["code"] == "name_twice"
