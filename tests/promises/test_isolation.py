"""Promise 6: what belongs to another tenant, or to another member, is as if it were not there.

The first wall is the scope of every statement, tried here through every repository. The second is
the database's own: test_isolation_by_the_database.py.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import (
    NullPool,
    create_engine,
    text,
)

import app.store
from app.domain import keys
from app.domain.ablation import Ablation, Plans, Table
from app.domain.agents import Agent, Subagent
from app.domain.attachments import Attachment
from app.domain.audit import Action
from app.domain.checkpoints import NewCheckpoint
from app.domain.idempotency import Attempt, FirstAnswer
from app.domain.ids import new_id
from app.domain.imports import ImportRecord
from app.domain.mcp_listing import ToldTool, listing
from app.domain.outside import HttpTool, McpServer
from app.domain.overrides import SavedOverride, Target
from app.domain.ports import Todo
from app.domain.principals import Principal, Role
from app.domain.quota import Amount, Limits, Quota, Reservation, Standing
from app.domain.runs import Run
from app.domain.sessions import Session
from app.domain.snapshots import Totals
from app.domain.thinking import Thought
from app.domain.tries import Plan, SentSnapshot, Try
from app.domain.usage import EndedCall, SentPart, StartedCall
from app.domain.usage_reports import GroupBy
from app.domain.web_sessions import WebSession
from app.domain.work import CANCELLED, Held, Loaded
from app.errors import NotFound, WorkLost
from app.settings import Settings
from app.store.tables import metadata
from app.store.transaction import Database, Transaction
from cli.operate.embedded.postgres import PostgresUrls
from tests.store.people import (
    COUNTED_BY,
    People,
    a_key,
    a_message,
    a_session,
    an_agent,
    settle,
)
from tests.store.rows import SHA

TENANT_TABLES = sorted(
    each.name for each in metadata.tables.values() if "tenant_id" in each.columns
)

# What all members of a tenant have together; a test of its own keeps other tenants out.
OF_ALL_MEMBERS = {"quotas", "quota_days", "http_tools", "mcp_servers"}

HOUR = timedelta(hours=1)
PATH = "/memories/secret.md"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CALL = Amount(100, 1_000)
A_HELPER = Subagent(name="scout", description="Looks.", system_prompt="You look.")
A_THOUGHT = Thought(2, SHA, None, None)
ATTEMPT = Attempt(method="POST", route="/v1/sessions", key="once", fingerprint=SHA)


@dataclass(frozen=True)
class Belongings:
    """What Alice has."""

    owner: Principal
    agent: Agent
    session: Session
    attachment: Attachment
    imported: ImportRecord
    run: Run
    held: Held
    trial: Try
    trial_held: Held
    ablation: Ablation
    call: StartedCall
    reservation: Reservation
    web_session: WebSession


@pytest.fixture
def people(database: Database) -> People:
    return settle(database)


@pytest.fixture
def first_wall(settings: Settings) -> Iterator[Database]:
    """The store as a superuser, who sees past row-level security: its own scope stands alone."""
    alone = Database(replace(settings, database_url=settings.admin_database_url))
    yield alone
    alone.dispose()


@pytest.fixture
def hers(database: Database, people: People) -> Belongings:
    with database.transaction(people.alice) as tx:
        agent = tx.agents.add(an_agent(people.alice, name="Alice's"))
        session = tx.sessions.add(a_session(people.alice, agent.id))
        web_session = tx.web_sessions.add(bytes(32), HOUR)
        tx.memory.put(agent.id, PATH, "Alice's memory")
        tx.skills.put(agent.id, "brew", description="Tea", body="Boil")
        tx.messages.append(session.id, [a_message("Alice's words", tool_use_ids="toolu_1")])
        tx.thinking.add(session.id, [Thought(1, SHA, SHA, None)])
        tx.checkpoints.add(session, a_checkpoint())
        for target, part in _targets(agent, session):
            tx.overrides.replace(tx.overrides.lock(target), [an_override(people.alice, part)], None)
        tx.files.put(session.id, "/plan.md", "Alice's plan")
        tx.todos.replace(session.id, [Todo("Boil water", "pending")])
        attachment = tx.attachments.add(an_attachment(session), b"tea")
        imported = tx.imports.add(an_import(people.alice, agent, session))
        run = tx.runs.add(new_id(), session.id, agent.id, None, 1)
        ablation = add_ablation(tx, session.id, agent)
        plan = replace(a_plan(agent), ablation_id=ablation.id)
        trial = tx.tries.add(new_id(), session.id, plan, NOW)
        call = a_call(run)
        tx.usage.begin(call)
        tx.usage.begin(a_trial_call(agent, trial))
        reservation = tx.quota.reserve(new_id(), CALL, NOW + timedelta(minutes=5))
        tx.audit.add(Action.AGENT_CREATE, "agent", agent.id, {})
        tx.idempotency.begin(ATTEMPT)
        tx.idempotency.finish(ATTEMPT, FirstAnswer(status=201, location=None, resource={}))
    with database.system() as system:
        claimed = system.runs.claim(run.id, worker="test", lease=HOUR, timeout=HOUR)
        on_trial = system.tries.claim(trial.id, worker="test", lease=HOUR, timeout=HOUR)
    assert claimed
    assert on_trial
    with database.transaction(people.alice) as tx:
        below = tx.sessions.add_task(new_id(), session, "toolu_1", A_HELPER, "scout")
        start_task(tx, claimed.held, below, "toolu_1")
    return Belongings(
        people.alice,
        agent,
        session,
        attachment,
        imported,
        run,
        claimed.held,
        trial,
        on_trial.held,
        ablation,
        call,
        reservation,
        web_session,
    )


def start_task(tx: Transaction, parent: Held, session: Session, call: str) -> Any:
    return tx.runs.start_task(new_id(), parent, call, session.id, 1, worker="test", lease=HOUR)


def a_plan(agent: Agent) -> Plan:
    totals = Totals(1, 1, 0, "estimate", COUNTED_BY, 1, 1, 1, 1, 1, rough=False)
    loaded = Loaded(agent=agent, memory=(), skills=(), overrides=())
    return Plan(loaded=loaded, added=(), snapshot=SentSnapshot(totals, agent.model, SHA))


def a_call(run: Run) -> StartedCall:
    return StartedCall(
        id=new_id(),
        purpose="turn",
        agent_id=run.agent_id,
        session_id=run.session_id,
        run_id=run.id,
        provider="offline",
        model="claude-sonnet-5-5",
        estimated_tokens=5,
        estimator=COUNTED_BY,
        request_sha256=SHA,
        manifest=[SentPart("message:1", "message", SHA, 5)],
    )


def add_ablation(tx: Transaction, session_id: UUID, agent: Agent) -> Ablation:
    return tx.ablations.add(
        new_id(),
        session_id,
        model=agent.model,
        table=Table(steps=[]),
        plans=Plans(a_plan(agent).loaded, []),
        max_cost=1,
        expires_at=NOW,
    )


def a_trial_call(agent: Agent, trial: Try) -> StartedCall:
    return StartedCall(
        id=new_id(),
        purpose="context_try",
        agent_id=agent.id,
        session_id=trial.session_id,
        try_id=trial.id,
        provider="offline",
        model=trial.model,
        estimated_tokens=5,
        estimator=COUNTED_BY,
        request_sha256=SHA,
        manifest=[],
    )


def _targets(agent: Agent, session: Session) -> list[tuple[Target, str]]:
    return [
        (Target("session", session.id), "message:1"),
        (Target("agent", agent.id), "system:agent"),
    ]


def an_override(principal: Principal, part: str = "message:1") -> SavedOverride:
    return SavedOverride(
        part=part,
        action="exclude",
        created_by=principal.user_id,
        created_at="2026-01-01T00:00:00Z",
    )


def on_both(attempt: Callable[[Transaction, Target], Any]) -> Attempted:
    """The attempt on the session's set; when that is refused, on the agent's."""

    def both(tx: Transaction, hers: Belongings) -> Any:
        session, agent = (target for target, _ in _targets(hers.agent, hers.session))
        try:
            return attempt(tx, session)
        except NotFound:
            return attempt(tx, agent)

    return both


Attempted = Callable[[Transaction, Belongings], Any]

# What somebody else may try, by table. Each is refused with NotFound or finds nothing.
ATTEMPTS: Mapping[str, Mapping[str, Attempted]] = {
    "users": {
        "get": lambda tx, hers: tx.users.get(hers.owner.user_id),
        "update": lambda tx, hers: tx.users.update(hers.owner.user_id, disabled=True),
        "page": lambda tx, hers: [
            user for user in tx.users.page(None, 50).items if user.id == hers.owner.user_id
        ],
    },
    "api_keys": {
        "get": lambda tx, hers: tx.keys.get(hers.owner.key_id),
        "revoke": lambda tx, hers: tx.keys.revoke(hers.owner.key_id),
        "add": lambda tx, hers: tx.keys.add(a_key(hers.owner), keys.mint().hash),
        "page": lambda tx, hers: [
            key for key in tx.keys.page(None, 50).items if key.user_id == hers.owner.user_id
        ],
    },
    "web_sessions": {
        "end": lambda tx, hers: tx.web_sessions.end(hers.web_session.id),
    },
    "agents": {
        "get": lambda tx, hers: tx.agents.get(hers.agent.id),
        "get_writable": lambda tx, hers: tx.agents.get_writable(hers.agent.id),
        "used_by": lambda tx, hers: tx.agents.used_by(hers.session),
        "update": lambda tx, hers: tx.agents.update(hers.agent.id, {"shared": True}),
        "delete": lambda tx, hers: tx.agents.delete(hers.agent.id),
        "page": lambda tx, _: tx.agents.page(None, 50, query="Alice").items,
        "page after": lambda tx, _: tx.agents.page(new_id(), 50).items,
        "hook_headers": lambda tx, hers: tx.hook_headers.of(hers.agent.id),
        "put hook_headers": lambda tx, hers: tx.hook_headers.put(hers.agent.id, {}),
    },
    "memory_files": {
        "of": lambda tx, hers: tx.memory.of(hers.agent.id),
        "get": lambda tx, hers: tx.memory.get(hers.agent.id, PATH),
        "put": lambda tx, hers: tx.memory.put(hers.agent.id, PATH, "Mine"),
        "put new": lambda tx, hers: tx.memory.put(hers.agent.id, "/memories/new.md", "Mine"),
        "delete": lambda tx, hers: tx.memory.delete(hers.agent.id, PATH),
        "source": lambda tx, hers: tx.sources.memory(hers.agent.id),
    },
    "skills": {
        "of": lambda tx, hers: tx.skills.of(hers.agent.id),
        "get": lambda tx, hers: tx.skills.get(hers.agent.id, "brew"),
        "put": lambda tx, hers: tx.skills.put(hers.agent.id, "brew", description="", body=""),
        "put new": lambda tx, hers: tx.skills.put(hers.agent.id, "new", description="", body=""),
        "delete": lambda tx, hers: tx.skills.delete(hers.agent.id, "brew"),
        "source": lambda tx, hers: tx.sources.skills(hers.agent.id),
    },
    "sessions": {
        "get": lambda tx, hers: tx.sessions.get(hers.session.id),
        "lock": lambda tx, hers: tx.sessions.lock(hers.session.id),
        "update": lambda tx, hers: tx.sessions.update(hers.session.id, archived=True),
        "delete": lambda tx, hers: tx.sessions.delete(hers.session.id),
        "page": lambda tx, _: tx.sessions.page(None, 50).items,
        "page of agent": lambda tx, hers: tx.sessions.page(None, 50, agent_id=hers.agent.id).items,
        "add": lambda tx, hers: tx.sessions.add(a_session(tx.principal, hers.agent.id)),
        "add child": lambda tx, hers: tx.sessions.add(
            a_session(tx.principal, own_agent(tx).id, parent_id=hers.session.id)
        ),
        "add_task": lambda tx, hers: tx.sessions.add_task(
            new_id(), hers.session, "toolu_2", A_HELPER, "scout"
        ),
        "depth": lambda tx, hers: tx.sessions.depth(hers.session.id),
        "page of parent": lambda tx, hers: tx.sessions.page(None, 50, parent=hers.session.id).items,
    },
    "messages": {
        "append": lambda tx, hers: tx.messages.append(hers.session.id, [a_message()]),
        "page": lambda tx, hers: tx.messages.page(hers.session.id, None, 50),
        "history": lambda tx, hers: tx.messages.history(hers.session.id, COUNTED_BY),
        "outline": lambda tx, hers: tx.messages.outline(hers.session.id),
        "contents": lambda tx, hers: tx.messages.contents(hers.session.id, [1]),
        "headers": lambda tx, hers: tx.messages.headers(hers.session.id, [1], COUNTED_BY),
        "tail": lambda tx, hers: tx.messages.tail(hers.session.id),
        "has_tool_ids": lambda tx, hers: tx.messages.has_tool_ids(hers.session.id, ["toolu_1"]),
    },
    "message_thinking": {
        "of": lambda tx, hers: tx.thinking.of(hers.session.id),
        "retire": lambda tx, hers: tx.thinking.retire(hers.session.id, [1]),
        "add": lambda tx, hers: tx.thinking.add(hers.session.id, [A_THOUGHT]),
    },
    "checkpoints": {
        "latest": lambda tx, hers: tx.checkpoints.latest(hers.session.id, COUNTED_BY),
        "add": lambda tx, hers: tx.checkpoints.add(hers.session, a_checkpoint()),
    },
    "context_overrides": {
        "of": on_both(lambda tx, target: tx.overrides.of(target).overrides),
        "lock": on_both(lambda tx, target: tx.overrides.lock(target)),
        "for_run": lambda tx, hers: list(tx.overrides.for_run(hers.agent.id, hers.session.id)),
    },
    "override_sets": {
        "history": on_both(lambda tx, target: tx.overrides.history(target)),
        "past": on_both(lambda tx, target: tx.overrides.past(target, 1)),
    },
    "session_files": {
        "of": lambda tx, hers: tx.files.of(hers.session.id),
        "get": lambda tx, hers: tx.files.get(hers.session.id, "/plan.md"),
        "put": lambda tx, hers: tx.files.put(hers.session.id, "/plan.md", "Mine"),
        "put new": lambda tx, hers: tx.files.put(hers.session.id, "/new.md", "Mine"),
        "delete": lambda tx, hers: tx.files.delete(hers.session.id, "/plan.md"),
    },
    "todos": {
        "of": lambda tx, hers: tx.todos.of(hers.session.id),
        "replace": lambda tx, hers: tx.todos.replace(hers.session.id, []),
        "source": lambda tx, hers: tx.sources.todos(hers.session.id),
    },
    "attachments": {
        "of": lambda tx, hers: tx.attachments.of(hers.session.id),
        "get": lambda tx, hers: tx.attachments.get(hers.session.id, hers.attachment.id),
        "data": lambda tx, hers: tx.attachments.data(hers.session.id, hers.attachment.id),
        "add": lambda tx, hers: tx.attachments.add(an_attachment(hers.session), b"tea"),
        "delete": lambda tx, hers: tx.attachments.delete(hers.session.id, hers.attachment.id),
    },
    "runs": {
        "get": lambda tx, hers: tx.runs.get(hers.run.id),
        "open_of": lambda tx, hers: tx.runs.open_of(hers.session.id),
        "page": lambda tx, hers: tx.runs.page(hers.session.id, None, 50).items,
        "add": lambda tx, hers: tx.runs.add(new_id(), hers.session.id, hers.agent.id, None, 1),
        "task_of": lambda tx, hers: tx.runs.task_of(hers.run.id, "toolu_1"),
        "start_task": lambda tx, hers: start_task(tx, hers.held, hers.session, "toolu_2"),
        "cancel": lambda tx, hers: tx.runs.cancel(hers.run.id),
        "hold": lambda tx, hers: tx.runs.hold(hers.held),
        "keep_loaded": lambda tx, hers: tx.runs.keep_loaded(hers.held, {}),
        "begin_call": lambda tx, hers: tx.runs.begin_call(hers.held),
        "end_turn": lambda tx, hers: tx.runs.end_turn(hers.held, 1, [1]),
        "end": lambda tx, hers: tx.runs.end(hers.held, CANCELLED),
    },
    "ablations": {
        "get": lambda tx, hers: tx.ablations.get(hers.ablation.id),
        "page": lambda tx, hers: tx.ablations.page(hers.session.id, None, 50).items,
        "add": lambda tx, hers: add_ablation(tx, hers.session.id, hers.agent),
        "hold": lambda tx, hers: tx.ablations.hold(hers.ablation.id),
        "ask_to_cancel": lambda tx, hers: tx.ablations.ask_to_cancel(hers.ablation.id),
        "save": lambda tx, hers: tx.ablations.save(hers.ablation),
        "end": lambda tx, hers: tx.ablations.end(hers.ablation),
    },
    "tries": {
        "get": lambda tx, hers: tx.tries.get(hers.trial.id),
        "page": lambda tx, hers: tx.tries.page(hers.session.id, None, 50).items,
        "add": lambda tx, hers: tx.tries.add(new_id(), hers.session.id, a_plan(hers.agent), NOW),
        "cancel": lambda tx, hers: tx.tries.cancel(hers.trial.id),
        "hold": lambda tx, hers: tx.tries.hold(hers.trial_held),
        "begin_call": lambda tx, hers: tx.tries.begin_call(
            hers.trial_held, a_plan(hers.agent).snapshot
        ),
        "end": lambda tx, hers: tx.tries.end(hers.trial_held, CANCELLED),
        "of_ablation": lambda tx, hers: tx.tries.of_ablation(hers.ablation.id),
    },
    "usage_records": {
        "calls": lambda tx, hers: tx.usage.calls(hers.run.id),
        "of_tries": lambda tx, hers: tx.usage.of_tries([hers.trial.id]),
        "sent_of_tries": lambda tx, hers: tx.usage.sent_of_tries([hers.trial.id]),
        "usual_output": lambda tx, hers: tx.usage.usual_output(hers.session.id),
        "call": lambda tx, hers: tx.usage.call(hers.run.id, 1),
        "totals": lambda tx, hers: tx.usage.totals([hers.run.id]),
        "begin": lambda tx, hers: tx.usage.begin(a_call(hers.run)),
        "rows": lambda tx, _: tx.usage_reports.rows(GroupBy.AGENT),
        "rows by day": lambda tx, _: tx.usage_reports.rows(GroupBy.DAY),
        "estimates": lambda tx, _: tx.usage_reports.estimates(),
        "end": lambda tx, hers: tx.usage.end(
            hers.call.id, EndedCall(outcome="failed", latency_ms=1)
        ),
    },
    "imports": {
        "find": lambda tx, hers: tx.imports.find(hers.imported.fingerprint),
        "of": lambda tx, hers: tx.imports.of(hers.session.id),
        "add": lambda tx, hers: tx.imports.add(an_import(tx.principal, hers.agent, hers.session)),
    },
    "quota_reservations": {
        "settle": lambda tx, hers: tx.quota.settle(hers.reservation.id, CALL, NOW.date()),
    },
    "audit_events": {
        "page": lambda tx, _: tx.audit.page(None, 50).items,
    },
    "idempotency_keys": {
        "begin": lambda tx, _: tx.idempotency.begin(ATTEMPT),
    },
}


@pytest.mark.parametrize("asker", ["bob", "eve"])
@pytest.mark.parametrize("of", ATTEMPTS)
def test_nobody_else_gets_at_what_is_hers(first_wall, people, hers, contents, of, asker):
    before = contents()

    for name, attempt in ATTEMPTS[of].items():
        with first_wall.transaction(getattr(people, asker)) as tx:
            assert not found(tx, attempt, hers), f"{asker} got through {of}.{name}"
            undo(tx)

    assert contents() == before


@pytest.mark.parametrize("of", ATTEMPTS)
def test_she_herself_finds_all_of_it(database, hers, of):
    with database.transaction(hers.owner) as tx:
        attempt = next(iter(ATTEMPTS[of].values()))

        assert found(tx, attempt, hers)


def test_every_table_of_a_tenant_is_tried():
    assert {*ATTEMPTS, *OF_ALL_MEMBERS} == set(TENANT_TABLES)


def test_every_table_that_is_tried_has_a_repository():
    used = {name for path in Path(app.store.__path__[0]).glob("*.py") for name in imported(path)}

    assert used >= ATTEMPTS.keys()


def test_tools_from_outside_are_their_tenants(first_wall, people, hers):
    """Every member reads and calls them, and only admins write; other tenants find nothing."""
    names = ["weather", "mcp__github"]
    with first_wall.transaction(people.admin) as tx:
        tx.http_tools.put(a_tool(), {})
        tx.mcp_servers.put(a_server(), {})

    with first_wall.transaction(hers.owner) as tx:
        assert [each.name for each in tx.sources.outside(names)] == ["weather", "mcp__github__find"]
        refused = (
            lambda: tx.http_tools.put(a_tool(), {}),
            lambda: tx.http_tools.delete("weather"),
            lambda: tx.mcp_servers.put(a_server(), {}),
            lambda: tx.mcp_servers.delete("github"),
        )
        for attempt in refused:
            with pytest.raises(NotFound):
                attempt()
    with first_wall.transaction(people.eve) as tx:
        assert tx.sources.outside(names) == tx.http_tools.all() == tx.mcp_servers.all() == []
        for attempt in (
            lambda: tx.http_tools.get("weather"),
            lambda: tx.http_tools.headers("weather"),
            lambda: tx.http_tools.delete("weather"),
            lambda: tx.mcp_servers.get("github"),
            lambda: tx.mcp_servers.headers("github"),
            lambda: tx.mcp_servers.delete("github"),
        ):
            with pytest.raises(NotFound):
                attempt()
    with first_wall.transaction(people.admin) as tx:
        assert len(tx.http_tools.all()) == len(tx.mcp_servers.all()) == 1


def a_tool() -> HttpTool:
    return HttpTool(
        name="weather",
        description="The weather.",
        input_schema={"type": "object"},
        method="GET",
        url="https://weather.example/now",
        header_names=(),
        timeout_seconds=30,
    )


def a_server() -> McpServer:
    tools, _ = listing("github", [ToldTool("find", "Finds.", {"type": "object"})])
    return McpServer(
        name="github",
        url="https://mcp.example/mcp",
        header_names=(),
        timeout_seconds=30,
        allowed_tools=None,
        tools=tools,
    )


def test_a_quota_is_its_tenants(first_wall, people, hers):
    with first_wall.transaction(people.admin) as tx:
        tx.quota.put(Quota(limits=Limits(tokens=100)))
        tx.quota.settle(hers.reservation.id, CALL, NOW.date())
        tx.quota.reserve(new_id(), CALL, NOW + timedelta(minutes=5))

    with first_wall.transaction(people.eve) as tx:
        assert tx.quota.lock() == tx.quota.get() == Quota()
        assert tx.quota.standing(Quota(), NOW) == Standing(Quota(), NOW, Amount(), Amount())
        tx.quota.put(Quota(limits=Limits(tokens=0)))
    with first_wall.reading(people.bob) as tx:
        assert tx.quota.get() == Quota(limits=Limits(tokens=100))
        assert tx.quota.standing(Quota(), NOW) == Standing(Quota(), NOW, CALL, CALL)
    with first_wall.transaction(people.bob) as tx, pytest.raises(NotFound):
        tx.quota.put(Quota())


def test_absent_and_not_hers_are_the_same_failure(database, people, hers):
    failures = []
    for session_id in (hers.session.id, new_id()):
        with database.reading(people.bob) as tx, pytest.raises(NotFound) as refused:
            tx.sessions.get(session_id)
        failures.append(refused.value)

    assert [vars(each) for each in failures] == [vars(failures[0])] * 2


def test_an_admin_sees_and_changes_what_its_members_have(database, people, hers):
    with database.transaction(people.admin) as tx:
        tx.memory.put(hers.agent.id, PATH, "Corrected")
        tx.messages.append(hers.session.id, [a_message("Admin's words")])

        assert tx.users.get(hers.owner.user_id).name == "Alice"
        assert tx.agents.get_writable(hers.agent.id).owner_id == hers.owner.user_id
        assert tx.keys.revoke(hers.owner.key_id).revoked_at
        assert [each.seq for each in tx.messages.page(hers.session.id, None, 50).items] == [1, 2]
        assert [each.action for each in tx.audit.page(None, 50).items] == [Action.AGENT_CREATE]


def test_an_admin_is_not_given_the_answers_of_its_members(database, people, hers):
    with database.transaction(people.admin) as tx:
        assert tx.idempotency.begin(ATTEMPT) is None
        assert tx.imports.find(hers.imported.fingerprint) is None


class TestSharedAgents:
    """Read and used by everybody in the tenant, changed by nobody but the owner and the admins."""

    @pytest.fixture
    def shared(self, database, hers):
        with database.transaction(hers.owner) as tx:
            return tx.agents.update(hers.agent.id, {"shared": True})

    def test_a_member_reads_it_with_its_memory_and_skills(self, database, people, shared):
        with database.reading(people.bob) as tx:
            assert tx.agents.get(shared.id) == shared
            assert [each.id for each in tx.agents.page(None, 50).items] == [shared.id]
            assert tx.memory.get(shared.id, PATH).content == "Alice's memory"
            assert [each.name for each in tx.skills.of(shared.id)] == ["brew"]

    def test_another_tenant_does_not(self, first_wall, people, shared):
        with first_wall.reading(people.eve) as tx:
            assert tx.agents.page(None, 50).items == []
            with pytest.raises(NotFound):
                tx.agents.get(shared.id)

    @pytest.mark.parametrize(
        "change",
        [
            lambda tx, agent: tx.agents.get_writable(agent.id),
            lambda tx, agent: tx.agents.update(agent.id, {"name": "Mine"}),
            lambda tx, agent: tx.agents.delete(agent.id),
            lambda tx, agent: tx.memory.put(agent.id, PATH, "Mine"),
            lambda tx, agent: tx.memory.delete(agent.id, PATH),
            lambda tx, agent: tx.skills.put(agent.id, "brew", description="", body="Mine"),
            lambda tx, agent: tx.skills.delete(agent.id, "brew"),
        ],
    )
    def test_a_member_cannot_change_it(self, database, people, shared, change):
        with database.transaction(people.bob) as tx, pytest.raises(NotFound):
            change(tx, shared)

    def test_its_sessions_are_apart(self, database, people, shared, hers):
        with database.transaction(people.bob) as tx:
            his = tx.sessions.add(a_session(people.bob, shared.id))
            assert [each.id for each in tx.sessions.page(None, 50).items] == [his.id]

        with database.reading(hers.owner) as tx, pytest.raises(NotFound):
            tx.sessions.get(his.id)

    def test_a_session_goes_on_when_it_is_no_longer_shared(self, database, people, shared, hers):
        with database.transaction(people.bob) as tx:
            his = tx.sessions.add(a_session(people.bob, shared.id))
        with database.transaction(hers.owner) as tx:
            tx.agents.update(shared.id, {"shared": False})

        with database.transaction(people.bob) as tx:
            assert tx.agents.used_by(his).id == shared.id
            assert [each.path for each in tx.sources.memory(shared.id)] == [PATH]
            with pytest.raises(NotFound):
                tx.agents.get(shared.id)
            with pytest.raises(NotFound):
                tx.sessions.add(a_session(people.bob, shared.id))


def test_what_a_principal_adds_is_its_own_whatever_the_value_says(database, people, hers):
    forged = an_agent(hers.owner, name="Forged")

    with database.transaction(people.bob) as tx:
        added = tx.agents.add(forged)

    assert (added.tenant_id, added.owner_id) == (people.bob.tenant_id, people.bob.user_id)


def test_a_member_is_no_admin_by_asking(database, people):
    with database.transaction(people.bob) as tx, pytest.raises(NotFound):
        tx.users.update(people.bob.user_id, role=Role.ADMIN)


@pytest.fixture
def contents(postgres_urls: PostgresUrls) -> Callable[[], dict[str, str]]:
    """A fingerprint of every table, by name."""
    owner = create_engine(postgres_urls.admin_url, poolclass=NullPool)
    names = sorted(metadata.tables)

    def look() -> dict[str, str]:
        with owner.connect() as connection:
            return {name: connection.scalar(text(_FINGERPRINT.format(name))) for name in names}

    return look


def found(tx: Transaction, attempt: Attempted, hers: Belongings) -> Any:
    """What an attempt came to: None when it was refused."""
    try:
        return attempt(tx, hers)
    except (NotFound, WorkLost):
        return None


def undo(tx: Transaction) -> None:
    """Take back what an attempt had to make of its own."""
    for agent in tx.agents.page(None, 50, query="Own").items:
        tx.agents.delete(agent.id)


def own_agent(tx: Transaction) -> Agent:
    return tx.agents.add(an_agent(tx.principal, name="Own"))


def a_checkpoint() -> NewCheckpoint:
    return NewCheckpoint(
        covers_seq=1, summary=a_message("So far"), label="Summary", origin="test", trigger="manual"
    )


def an_attachment(session: Session) -> Attachment:
    return Attachment(
        id=new_id(),
        tenant_id=session.tenant_id,
        session_id=session.id,
        name="tea.txt",
        media_type="text/plain",
        size_bytes=3,
        sha256=SHA,
        created_at="",
    )


def an_import(owner: Principal, agent: Agent, session: Session) -> ImportRecord:
    return ImportRecord(
        id=new_id(),
        tenant_id=owner.tenant_id,
        owner_id=owner.user_id,
        agent_id=agent.id,
        session_id=session.id,
        format="claude-code",
        fingerprint=SHA,
        content_hash=SHA,
        source_session_id=None,
        last_record_id=None,
        report={},
    )


def imported(path: Path) -> set[str]:
    """The tables that a module of the store takes."""
    return {
        alias.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == "app.store.tables"
        for alias in node.names
    }


_FINGERPRINT = "SELECT md5(string_agg(t::text, '' ORDER BY t)) FROM {} t"
