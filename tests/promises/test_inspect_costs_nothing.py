"""Promises 4 and 1: inspect writes no row and calls nobody, and says the same after a restart."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import msgspec
import psycopg2
import pytest
from sqlalchemy.engine import make_url

from app.provider import wire
from app.runtime import Runtime
from app.services import context
from app.settings import Secret, Settings
from app.store.transaction import Database
from cli.operate.embedded.postgres import PostgresUrls
from tests.api.conftest import admin, client, member, tenant  # noqa: F401 (fixtures)
from tests.factories import Caller, make_agent, make_session
from tests.history import assistant, tool_result, tool_use, user

TALK = [user("hi"), tool_use("t1"), tool_result("t1"), assistant("done"), user("and now?")]
TRANSCRIPTS = Path(__file__).parents[1] / "data" / "transcripts"
FILES = sorted(
    path
    for path in TRANSCRIPTS.rglob("*")
    if path.suffix in (".json", ".jsonl") and "subagents" not in path.parts
)


@pytest.fixture
def reader(settings: Settings, postgres_urls: PostgresUrls) -> Iterator[Database]:
    """The store as a role that can read and nothing else."""
    with closing(psycopg2.connect(postgres_urls.admin_url)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute("DROP ROLE IF EXISTS hango_reader")
            cursor.execute("CREATE ROLE hango_reader LOGIN PASSWORD 'reads'")
            cursor.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO hango_reader")
    url = make_url(settings.database_url).set(username="hango_reader", password="reads")
    made = Database(replace(settings, database_url=Secret(url.render_as_string(False))))
    yield made
    made.dispose()
    with closing(psycopg2.connect(postgres_urls.admin_url)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute("DROP OWNED BY hango_reader")
            cursor.execute("DROP ROLE hango_reader")


@pytest.mark.parametrize("overridden", [False, True])
def test_a_role_that_cannot_write_can_inspect(member: Caller, reader: Database, overridden):  # noqa: F811
    agent = make_agent(member, model="claude-opus-5-5")
    member.put(f"/v1/agents/{agent}/memory/memories/AGENTS.md", json={"content": "Small steps."})
    session = make_session(member, agent, *TALK)
    if overridden:
        body = {"overrides": [{"part": "message:3", "action": "replace", "replacement": "short"}]}
        member.put(f"/v1/sessions/{session}/context-overrides", json=body)
        member.patch(f"/v1/agents/{agent}", json={"model": "claude-sonnet-4-5"})

    with reader.reading(member.principal) as tx:
        shown = context.inspect(tx, session)

    over_http = member.get(f"/v1/sessions/{session}/context")
    assert msgspec.json.encode(shown) == over_http.data


def test_a_new_process_says_the_same(member: Caller, settings: Settings):  # noqa: F811
    session = make_session(member, None, *TALK)
    first = member.get(f"/v1/sessions/{session}/context").data
    afresh = Database(settings)

    with afresh.reading(member.principal) as tx:
        again = msgspec.json.encode(context.inspect(tx, session))
    afresh.dispose()

    assert again == first


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_transcript_is_imported_and_adds_up(
    runtime: Runtime,
    member: Caller,  # noqa: F811
    path: Path,
):
    with path.open("rb") as file:
        imported = member.post("/v1/imports", data={"file": (file, path.name)})
    assert imported.status_code == 201, imported.text

    for made in imported.json["sessions"]:
        shown = member.get(f"/v1/sessions/{made['session_id']}/context")
        assert shown.status_code == 200, shown.text
        groups, totals = shown.json["groups"], shown.json["totals"]
        for group in groups.values():
            sent = sum(part["tokens"] for part in group["parts"] if part["included"])
            assert group["tokens"]["after"] == sent
        sums = sum(group["tokens"]["after"] for group in groups.values())
        assert totals["after"] == sums + totals["framing"]
        assert totals["after"] == counted_anew(runtime.database, member, made["session_id"])


def counted_anew(database: Database, caller: Caller, session: str) -> int:
    """What the estimator says of the captured request, without any stored count."""
    with database.reading(caller.principal) as tx:
        assembled = context.assemble(tx, UUID(session))
        request = assembled.request
        seqs = [each.seq for each in request.messages if not each.made]
        contents = tx.messages.contents(UUID(session), seqs)
    messages = [
        {"role": ref.role, "content": wire.blocks_of(ref, contents)} for ref in request.messages
    ]
    return assembled.estimator.request(wire.body(request, contents) | {"messages": messages})
