"""Promise 7 (D45, D46): no content on spans, metrics, logs, audit rows or in the broker.

A word that stands nowhere else is put into everything that is content. Every path is driven, the
failing ones included, and the word is looked for in all that hango says of itself. Names that
people choose (of files, skills, tools) hold another word: audit rows may name their target.
"""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any, NoReturn

import psycopg2
import pytest

from app.domain.jobs import Job
from app.provider.anthropic import AnthropicProvider
from app.runtime import Runtime
from app.store.transaction import Database, Transaction
from app.telemetry import spans
from app.web import create_app
from tests.factories import append, make_agent, make_session
from tests.fakes.outside import outside
from tests.fakes.providers import ScriptedProvider
from tests.fakes.strict_provider import (
    ErrorEvent,
    Extra,
    Malformed,
    Reply,
    Status,
    StrictProvider,
    text,
    tool_use,
)
from tests.history import result, user
from tests.history import tool_use as used
from tests.telemetry.conftest import House, Recorded
from workers import base

MODEL = "claude-sonnet-4-5"


@dataclass
class Canary:
    """A word, and the ways in which it may be spelled."""

    word: str
    name: str

    def found_in(self, line: str) -> bool:
        return any(_holds(line, each) for each in (self.word, self.name))

    def leaks(self, told: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
        """The lines that hold it, each with where it was told."""
        return [
            (where, line)
            for where, lines in told.items()
            for line in lines
            if (_holds(line, self.word) if where == "audit" else self.found_in(line))
        ]


def _holds(line: str, word: str) -> bool:
    """In clear, or in base64 at any of its three alignments."""
    coded = [base64.b64encode(b"x" * at + word.encode()).decode()[4:-4] for at in range(3)]
    return any(each in line for each in (word, *coded))


@pytest.fixture
def canary() -> Canary:
    return Canary(f"canary{secrets.token_hex(12)}", f"named{secrets.token_hex(12)}")


@pytest.fixture
def strict() -> Iterator[StrictProvider]:
    with StrictProvider() as provider:
        yield provider


@pytest.fixture
def adapter(strict: StrictProvider) -> Iterator[AnthropicProvider]:
    provider = AnthropicProvider("sk-ant-test", strict.url)
    yield provider
    provider.close()


@pytest.fixture
def session(house: House, canary: Canary) -> str:
    """A session in which everything that is content holds the word."""
    word, name, alice = canary.word, canary.name, house.alice
    agent = make_agent(alice, name=f"agent {word}", system_prompt=f"Never say {word}.", model=MODEL)
    memory = {"content": f"She likes {word}."}
    assert (
        alice.put(f"/v1/agents/{agent}/memory/memories/{name}.md", json=memory).status_code == 200
    )
    skill = {"description": f"About {word}.", "body": f"Sing {word}."}
    assert alice.put(f"/v1/agents/{agent}/skills/{name}", json=skill).status_code == 200
    made = make_session(alice, agent, user(f"What is {word}?"), used("toolu_1"))
    append(alice, made, ("user", [result("toolu_1", f"It is {word}.")]), user(f"More {word}."))
    alice.patch(f"/v1/sessions/{made}", json={"title": f"On {word}"})
    file = {"content": f"A file of {word}."}
    assert alice.put(f"/v1/sessions/{made}/files/{name}.txt", json=file).status_code == 200
    overrides = [
        {"part": "message:1", "action": "replace", "replacement": f"Rather {word}."},
        {"part": f"system:memory:/memories/{name}.md", "action": "exclude"},
    ]
    for path, override in zip((f"sessions/{made}", f"agents/{agent}"), overrides, strict=True):
        body = {"overrides": [override]}
        saved = alice.put(f"/v1/{path}/context-overrides", json=body)
        assert saved.status_code == 200, saved.text
    return made


def test_what_succeeds_keeps_content_to_itself(
    house: House, session: str, canary: Canary, told: Any
) -> None:
    word, alice = canary.word, house.alice
    provider = ScriptedProvider(
        Reply(
            blocks=[
                text(f"I write {word}."),
                tool_use("write_file", path=f"/{canary.name}.md", content=f"All of {word}."),
                tool_use("read_file", path=f"/{canary.name}.txt"),
                tool_use("read_skill", name=canary.name),
                tool_use("grep", pattern=word),
                tool_use(word, what=word),
            ]
        ),
        Reply(blocks=[text(f"Done with {word}.")]),
    )

    assert house.run(session, provider, f"Do {word}.")["status"] == "succeeded"
    tried = house.try_(
        session,
        ScriptedProvider(Reply(blocks=[text(f"Yes, {word}.")])),
        message=f"And without {word}?",
        replace={"system:agent": f"Say {word}."},
    )
    assert tried["status"] == "succeeded"
    for query in ("", f"?full=system:agent&q={word}"):
        alice.get(f"/v1/sessions/{session}/context{query}")
    alice.post("/v1/imports", json={"content": _captured(word)})
    alice.post("/v1/attachments", json={"name": f"{word}.txt", "data": _base64(word)})

    assert canary.leaks(told()) == []


def test_what_is_refused_keeps_content_to_itself(
    house: House, session: str, canary: Canary, told: Any
) -> None:
    word, alice = canary.word, house.alice
    headers = {"X-Request-Id": f"{word} {word}", "User-Agent": word, "Referer": f"http://{word}/"}

    answers = [
        alice.post(f"/v1/sessions/{session}/runs", json={word: word}),
        alice.post(f"/v1/sessions/{session}/runs", data=f'{{"message": "{word}', headers=headers),
        alice.post(f"/v1/sessions/{session}/messages", json={"role": word, "content": word}),
        alice.post(f"/v1/sessions/{session}/context/try", json={"exclude": [f"tool:{word}", word]}),
        alice.put(
            f"/v1/sessions/{session}/context-overrides",
            json={"overrides": [{"part": f"message:{word}", "action": "exclude"}]},
        ),
        alice.get(f"/v1/{word}?{word}={word}", headers=headers),
        alice.get(f"/v1/sessions/{session}/files/{word}/none"),
        alice.post("/v1/imports", json={"content": f"{word} is no format"}),
        alice.post("/v1/agents", json={"name": {word: word}}),
        alice.open("/v1/agents", method=word.upper()),
    ]

    assert [at for at, each in enumerate(answers) if each.status_code < 400] == []
    assert canary.leaks(told()) == []


def test_a_failing_provider_s_words_stay_with_it(
    house: House,
    session: str,
    canary: Canary,
    strict: StrictProvider,
    adapter: AnthropicProvider,
    told: Any,
) -> None:
    word = canary.word
    faults = [
        Status(400, "invalid_request_error", f"messages.0: {word} is not allowed"),
        Status(401, "authentication_error", f"invalid key for {word}"),
        Status(502, body=f"<html>{word}</html>"),
        Status(418, word, word, headers={"request-id": f"{word} {word}"}, error_code=f"{word}!"),
        ErrorEvent(message=f"Overloaded by {word}"),
        Malformed(data=f'{{"type": "content_block_delta", "delta": {{"text": "{word}'),
        Extra(events=[{"type": f"{word} event", "text": word}]),
    ]
    for fault in faults:
        strict.fail(fault)
        house.run(session, adapter, f"Try {word}.")
        strict.fail(fault)
        house.try_(session, adapter)

    assert canary.leaks(told()) == []


def test_what_servers_outside_say_stays_with_them(house: House, canary: Canary, told: Any) -> None:
    word, alice = canary.word, house.alice
    with outside() as server:
        good = json.dumps({"text": f"It is {word}."})
        answers = cycle([(200, good), (500, f"No {word} today."), (200, f"{word}\udcff")])

        def answer(*_: Any) -> tuple[int, str, bytes]:
            status, said = next(answers)
            return status, "application/json", said.encode(errors="surrogateescape")

        server.answer = answer
        tool = {
            "description": f"Knows {word}.",
            "input_schema": {"type": "object", "properties": {"what": {"type": "string"}}},
            "url": server.url(f"/answer?{word}"),
            "headers": {"Authorization": f"Bearer {word}"},
        }
        assert alice.put("/v1/tools/oracle", json=tool).status_code == 200
        hook = {"type": "http", "name": "crm", "before_url": server.url(f"/answer?{word}")}
        agent = make_agent(alice, tools=["oracle"], injections=[hook])
        asking = Reply(blocks=[tool_use("oracle", what=word)])
        sent = []
        for _ in range(2):
            provider = ScriptedProvider(asking, Reply(blocks=[text("Well.")]))
            assert house.run(make_session(alice, agent), provider)["status"] == "succeeded"
            sent += provider.sent
        seen = [name for each in server.received for name in each.headers]

    assert f"It is {word}." in json.dumps(sent)
    assert not [name for name in seen if "trace" in name]
    assert canary.leaks(told()) == []


def test_hango_s_own_faults_are_told_without_their_texts(
    house: House, runtime: Runtime, session: str, canary: Canary, told: Any
) -> None:
    word = canary.word

    class Crashing(ScriptedProvider):
        def complete(self, *_: Any, **__: Any) -> NoReturn:
            raise ValueError(f"cannot parse {word}")

    @dataclass
    class Broken:
        real: Database

        def __getattr__(self, name: str) -> Any:
            return getattr(self.real, name)

        def reading(self, *_: Any) -> AbstractContextManager[Transaction]:
            raise RuntimeError(f"no memory for {word}")

    def failing_job(runtime: Runtime) -> None:
        # PostgreSQL quotes the value that it cannot make sense of.
        with runtime.database.transaction(house.alice.principal) as tx:
            tx.users._connection.exec_driver_sql("SELECT %(v)s::uuid", {"v": word})

    assert house.run(session, Crashing())["error"]["code"] == "internal"
    assert house.try_(session, Crashing())["error"]["code"] == "internal"
    app = create_app(replace(runtime, database=Broken(runtime.database)))  # type: ignore[arg-type]
    crashed = replace(house.alice, client=app.test_client())
    assert crashed.get(f"/v1/sessions/{session}/context").status_code == 500
    with spans.begun("process", "consumer"):
        base.run(failing_job, runtime)

    assert canary.leaks(told()) == []


def test_content_stands_on_the_call_s_span_alone_where_the_tenant_wants_it(
    house: House, session: str, canary: Canary, recorded: Recorded, told: Any
) -> None:
    wanted = {"trace_llm_content": True}
    assert house.alice.patch("/v1/tenant", json=wanted).json["trace_llm_content"] is True
    reply = Reply(blocks=[text(f"Here is {canary.word}.")])

    house.run(session, ScriptedProvider(reply), f"Go on with {canary.word}.")

    chat = recorded.one(f"chat {MODEL}")
    attributes = dict(chat.attributes or {})
    holding = {name for name, value in attributes.items() if canary.found_in(str(value))}
    assert holding == {
        "gen_ai.system_instructions",
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "langfuse.observation.input",
        "langfuse.observation.output",
    }
    assert (
        json.loads(str(attributes["gen_ai.output.messages"]))[0]["text"] == reply.blocks[0]["text"]
    )
    assert canary.leaks(told()) == [("spans", chat.to_json())]


@pytest.fixture
def told(
    recorded: Recorded, runtime: Runtime, caplog: pytest.LogCaptureFixture, settings: Any
) -> Any:
    """All that hango has said of itself, and to the broker."""
    caplog.set_level("DEBUG")

    def told() -> Mapping[str, Sequence[str]]:
        with (
            closing(psycopg2.connect(settings.admin_database_url)) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute("SELECT audit_events::text FROM audit_events")
            audit = [row[0] for row in cursor.fetchall()]
        runtime.queue.send(Job.SWEEP_RUNS)  # so that a worker's message is among them
        jobs = [
            str(message)
            for key in runtime.redis.scan_iter("hango:*", _type="list")
            for message in runtime.redis.lrange(key, 0, -1)
        ]
        logged = [*recorded.written.getvalue().splitlines(), *caplog.text.splitlines()]
        told = {
            "spans": [str(each.to_json()) for each in recorded.spans],
            "metrics": recorded.metrics_text().splitlines(),
            "logs": logged,
            "audit": audit,
            "broker": jobs,
        }
        assert all(told.values())
        return told

    return told


def _base64(word: str) -> str:
    return base64.b64encode(f"An attachment of {word}.".encode()).decode()


def _captured(word: str) -> str:
    turns = [{"role": "user", "content": f"Once there was {word}."}]
    return json.dumps({"model": MODEL, "max_tokens": 5, "system": word, "messages": turns})
