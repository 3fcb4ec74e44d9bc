"""Agents, sessions, and the files, skills, todos and attachments that they have."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain.agents import Subagent
from app.domain.attachments import Attachment
from app.domain.ids import new_id
from app.domain.imports import ImportRecord
from app.domain.injections import Hook, Retrieval
from app.domain.ports import Todo
from app.errors import InUse, NotFound
from tests.store.people import a_session, an_agent, with_session
from tests.store.rows import SHA

DIRTY, CLEAN = "a\x00b\ud800c", "a\ufffdb\ufffdc"


@pytest.fixture
def session(database, people):
    return with_session(database, people.alice)


class TestAgents:
    def test_it_comes_back_as_it_was_with_its_keys_in_order(self, database, people):
        wanted = an_agent(
            people.alice,
            system_blocks=("One", "Two"),
            tools=({"name": "z", "input_schema": {"type": "object", "a": 1}}, "ls"),
            tool_choice={"type": "auto"},
            parameters={"stop_sequences": ["x"], "big": 2**70},
            middleware={"todo": False},
            subagents=(
                Subagent(name="s", description="d", system_prompt="p"),
                Subagent(name="t", description="d", system_prompt="p", tools=("ls",)),
            ),
            injections=(
                Retrieval(name="notes", over=("files",)),
                Hook(name="crm", before_url="https://crm.example/", timeout_seconds=1.5),
            ),
            strategy={"name": "none"},
        )
        with database.transaction(people.alice) as tx:
            tx.agents.add(wanted)
            found = tx.agents.get(wanted.id)

        assert found == replace(wanted, created_at=found.created_at, updated_at=found.updated_at)
        assert list(found.tools[0]) == ["name", "input_schema"]
        assert found.created_at.endswith("Z")

    def test_a_change_grows_its_version(self, database, people):
        with database.transaction(people.alice) as tx:
            agent = tx.agents.add(an_agent(people.alice))
            changed = tx.agents.update(agent.id, {"name": "New", "tools": ("ls",)})

        assert (changed.name, changed.tools, changed.version) == ("New", ("ls",), 2)

    def test_what_is_not_to_be_changed_is_not(self, database, people):
        with database.transaction(people.alice) as tx:
            agent = tx.agents.add(an_agent(people.alice))
            for field in ("id", "tenant_id", "owner_id", "version", "created_at", "nothing"):
                with pytest.raises(ValueError, match="No such fields"):
                    tx.agents.update(agent.id, {field: 1})

    def test_one_with_sessions_is_in_use(self, database, people, session):
        with pytest.raises(InUse), database.transaction(people.alice) as tx:
            tx.agents.delete(session.agent_id)

        with database.transaction(people.alice) as tx:
            tx.sessions.delete(session.id)
            tx.agents.delete(session.agent_id)
            with pytest.raises(NotFound):
                tx.agents.get(session.agent_id)

    def test_a_search_takes_wildcards_as_they_are(self, database, people):
        names = ["100%", "1000", "a_b", "axb", "back\\slash", "Ärger"]
        with database.transaction(people.alice) as tx:
            for name in names:
                tx.agents.add(an_agent(people.alice, name=name))

            def found(query):
                return [each.name for each in tx.agents.page(None, 50, query=query).items]

            assert found("0%") == ["100%"]
            assert found("A_B") == ["a_b"]
            assert found("k\\s") == ["back\\slash"]
            assert found("ä") == ["Ärger"]
            assert found(DIRTY) == []

    def test_pages_are_newest_first(self, database, people):
        with database.transaction(people.alice) as tx:
            ids = [tx.agents.add(an_agent(people.alice)).id for _ in range(5)]
            first = tx.agents.page(None, 2)
            second = tx.agents.page(first.next, 2)
            third = tx.agents.page(second.next, 2)

        assert [each.id for page in (first, second, third) for each in page.items] == ids[::-1]
        assert third.next is None


class TestSessions:
    def test_what_is_not_named_stays(self, database, people, session):
        with database.transaction(people.alice) as tx:
            assert tx.sessions.update(session.id, title="Other").archived is False
            assert tx.sessions.update(session.id, archived=True).title == "Other"

    def test_lists_are_cut_by_agent_state_and_title(self, database, people, session):
        with database.transaction(people.alice) as tx:
            other = tx.sessions.add(a_session(people.alice, session.agent_id, title="Tea time"))
            tx.sessions.update(other.id, archived=True)

            def ids(**cut):
                return {each.id for each in tx.sessions.page(None, 50, **cut).items}

            assert ids() == {session.id, other.id}
            assert ids(archived=False) == {session.id}
            assert ids(archived=True) == {other.id}
            assert ids(query="TEA") == {other.id}
            assert ids(agent_id=session.agent_id) == {session.id, other.id}
            assert ids(agent_id=new_id()) == set()

    def test_a_worker_acts_in_its_owners_name(self, database, people, session):
        with database.system() as tx:
            assert tx.sessions.owner(session.id) == replace(people.alice, key_id=None)
            with pytest.raises(NotFound):
                tx.sessions.owner(new_id())


class TestFilesOfAnAgent:
    def test_memory_is_versioned_by_what_it_says(self, database, people, session):
        agent_id, path = session.agent_id, "/memories/AGENTS.md"
        with database.transaction(people.alice) as tx:
            first = tx.memory.put(agent_id, path, "Tea")
            same = tx.memory.put(agent_id, path, "Tea")
            other = tx.memory.put(agent_id, path, "Coffee")

            assert [each.version for each in (first, same, other)] == [1, 1, 2]
            assert tx.memory.of(agent_id) == [other]
            tx.memory.delete(agent_id, path)
            assert tx.memory.of(agent_id) == []

    def test_paths_are_compared_as_they_are(self, database, people, session):
        paths = ["/memories/A.md", "/memories/a.md", "/memories/a//b", "/memories/日本 #1+50%.md"]
        with database.transaction(people.alice) as tx:
            for path in paths:
                tx.memory.put(session.agent_id, path, path)

            assert [each.path for each in tx.memory.of(session.agent_id)] == sorted(paths)
            assert all(tx.memory.get(session.agent_id, path).content == path for path in paths)

    def test_skills_are_versioned_by_what_they_say(self, database, people, session):
        with database.transaction(people.alice) as tx:

            def put(**changes):
                content = {"description": "d", "body": "b", "allowed_tools": None} | changes
                return tx.skills.put(session.agent_id, "brew", **content)

            stored = [put(), put(), put(allowed_tools=["ls"]), put(body="c"), put()]

            assert [each.version for each in stored] == [1, 1, 2, 3, 4]
            assert stored[2].allowed_tools == ("ls",)
            assert tx.skills.of(session.agent_id) == [stored[-1]]


class TestFilesOfASession:
    def test_files_know_their_size_in_bytes(self, database, people, session):
        with database.transaction(people.alice) as tx:
            stored = tx.files.put(session.id, "/é.md", "日本")
            (entry,) = tx.files.of(session.id)

            assert (stored.size_bytes, entry.size_bytes, entry.path) == (6, 6, "/é.md")
            assert tx.files.put(session.id, "/é.md", "日").version == 2

    def test_todos_are_replaced_as_a_whole(self, database, people, session):
        old = [Todo("One", "completed"), Todo("Two", "pending")]
        new = [Todo("Two", "in_progress")]
        with database.transaction(people.alice) as tx:
            for wanted in (old, new, []):
                tx.todos.replace(session.id, wanted)
                assert tx.todos.of(session.id) == wanted

    def test_attachments_keep_every_byte(self, database, people, session):
        content = bytes(range(256)) * 4
        wanted = Attachment(
            id=new_id(),
            tenant_id=session.tenant_id,
            session_id=session.id,
            name="bytes.bin",
            media_type="application/octet-stream",
            size_bytes=len(content),
            sha256=SHA,
            created_at="",
        )
        with database.transaction(people.alice) as tx:
            stored = tx.attachments.add(wanted, content)
            other = tx.sessions.add(a_session(people.alice, session.agent_id))

            assert tx.attachments.of(session.id) == [stored]
            assert tx.attachments.data(session.id, stored.id) == content
            with pytest.raises(NotFound):
                tx.attachments.get(other.id, stored.id)


def test_nul_and_lone_surrogates_are_shown_and_stored_nowhere(database, people, session):
    with database.transaction(people.alice) as tx:
        agent = tx.agents.add(
            an_agent(people.alice, name=DIRTY, system_blocks=(DIRTY,), tools=({DIRTY: DIRTY},))
        )
        tx.todos.replace(session.id, [Todo(DIRTY, "pending")])

        assert (agent.name, agent.system_blocks) == (CLEAN, (CLEAN,))
        assert agent.tools == ({CLEAN: CLEAN},)
        assert tx.memory.put(agent.id, "/memories/m", DIRTY).content == CLEAN
        assert tx.skills.put(agent.id, DIRTY, description=DIRTY, body=DIRTY).body == CLEAN
        assert tx.files.put(session.id, "/" + DIRTY, DIRTY).content == CLEAN
        assert tx.todos.of(session.id) == [Todo(CLEAN, "pending")]
        assert tx.sessions.update(session.id, title=DIRTY).title == CLEAN


def test_a_file_is_imported_once_by_each_owner_until_its_session_is_gone(database, people):
    def record(principal, session):
        return ImportRecord(
            id=new_id(),
            tenant_id=principal.tenant_id,
            owner_id=principal.user_id,
            agent_id=session.agent_id,
            session_id=session.id,
            format="claude-code",
            fingerprint=SHA,
            content_hash=SHA,
            source_session_id="source",
            last_record_id=None,
            report={"messages": 2},
        )

    for principal in (people.alice, people.bob, people.eve):
        session = with_session(database, principal)
        with database.transaction(principal) as tx:
            tx.imports.lock(SHA)
            assert tx.imports.find(SHA) is None
            stored = tx.imports.add(record(principal, session))
            assert tx.imports.find(SHA) == stored == tx.imports.of(session.id)

    with database.transaction(people.eve) as tx:
        tx.sessions.delete(session.id)
        assert tx.imports.find(SHA) is None
