"""The workspace of a run, over the real store."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from app.domain.audit import Action
from app.domain.files import MEMORY_ROOM, SESSION_ROOM, MemoryReadOnly, NoRoom, NoSuchFile, Room
from app.domain.ports import FileSize, Todo
from app.errors import NotFound
from app.services import workspace as workspaces
from app.services.workspace import SessionWorkspace
from tests.store.people import People, a_session, an_agent, settle, with_session

DIRTY, CLEAN = "a\x00b\ud800c", "a\ufffdb\ufffdc"
MEMORY = "/memories/AGENTS.md"


@pytest.fixture
def people(database) -> People:
    return settle(database)


@pytest.fixture
def session(database, people):
    return with_session(database, people.alice)


@pytest.fixture
def workspace(database, people, session):
    return SessionWorkspace(database, people.alice, session)


@pytest.fixture
def borrowed(database, people):
    """The workspace of Bob's session with an agent that Alice shares."""
    with database.transaction(people.alice) as tx:
        agent = tx.agents.add(an_agent(people.alice, shared=True))
        tx.memory.put(agent.id, MEMORY, "Hers.")
    with database.transaction(people.bob) as tx:
        session = tx.sessions.add(a_session(people.bob, agent.id))
    return SessionWorkspace(database, people.bob, session)


def actions(database, principal):
    with database.reading(principal) as tx:
        return [each.action for each in tx.audit.page(None, 50).items]


def test_files_and_memory_are_one_tree(workspace):
    assert workspace.files() == []
    assert workspace.write("/b/漢.md", "漢") is False
    assert workspace.write(MEMORY, "Be kind.") is False

    assert workspace.files() == [FileSize("/b/漢.md", 3), FileSize(MEMORY, 8)]
    assert workspace.read(["/b/漢.md", MEMORY, "/none", "/memories/none"]) == {
        "/b/漢.md": "漢",
        MEMORY: "Be kind.",
    }


def test_memory_is_the_agents_and_files_are_the_sessions(database, people, session, workspace):
    with database.transaction(people.alice) as tx:
        other = tx.sessions.add(a_session(people.alice, session.agent_id))
    workspace.write("/a", "mine")
    workspace.write(MEMORY, "ours")

    assert SessionWorkspace(database, people.alice, other).files() == [FileSize(MEMORY, 4)]
    with database.reading(people.alice) as tx:
        assert tx.memory.get(session.agent_id, MEMORY).content == "ours"
        assert tx.files.get(session.id, "/a").content == "mine"


@pytest.mark.parametrize("path", ["/a", MEMORY])
def test_a_write_replaces_and_an_edit_changes(workspace, path):
    workspace.write(path, "one")
    assert workspace.write(path, "two") is True

    workspace.edit(path, lambda content: content + " three")

    assert workspace.read([path]) == {path: "two three"}


@pytest.mark.parametrize("path", ["/a", MEMORY])
def test_what_cannot_be_stored_is_cleaned(workspace, path):
    workspace.write(path, DIRTY)

    assert workspace.read([path]) == {path: CLEAN}


@pytest.mark.parametrize("path", ["/a", MEMORY])
def test_an_edit_needs_a_file_and_a_failed_one_leaves_it_as_it_is(workspace, path):
    with pytest.raises(NoSuchFile):
        workspace.edit(path, str.upper)
    workspace.write(path, "one")

    with pytest.raises(NoRoom):
        workspace.edit(path, lambda content: content * 700_000)

    assert workspace.read([path]) == {path: "one"}


def test_writes_are_audited_without_content(database, people, workspace):
    workspace.write("/a", "secret")
    workspace.write(MEMORY, "secret")

    assert actions(database, people.alice) == [Action.MEMORY_WRITE, Action.FILE_WRITE]


def test_anothers_shared_agent_has_a_memory_to_read_and_not_to_write(borrowed):
    assert borrowed.files() == [FileSize(MEMORY, 5)]
    assert borrowed.read([MEMORY]) == {MEMORY: "Hers."}
    for write in (
        lambda: borrowed.write(MEMORY, "His."),
        lambda: borrowed.write("/memories/new", "His."),
        lambda: borrowed.edit(MEMORY, str.upper),
        lambda: borrowed.edit("/memories/none", str.upper),
    ):
        with pytest.raises(MemoryReadOnly):
            write()

    borrowed.write("/mine", "His.")

    assert borrowed.files() == [FileSize(MEMORY, 5), FileSize("/mine", 4)]


@pytest.mark.parametrize("who", ["bob", "eve"])
def test_a_session_of_somebody_else_is_not_there(database, people, session, workspace, who):
    workspace.write("/a", "mine")
    stranger = SessionWorkspace(database, getattr(people, who), session)

    for use in (
        stranger.files,
        lambda: stranger.read(["/a", MEMORY]),
        lambda: stranger.write("/a", "theirs"),
        lambda: stranger.write(MEMORY, "theirs"),
        lambda: stranger.edit("/a", str.upper),
        lambda: stranger.edit(MEMORY, str.upper),
        lambda: stranger.replace_todos([Todo("theirs", "pending")]),
    ):
        with pytest.raises(NotFound):
            use()
    assert workspace.read(["/a", MEMORY]) == {"/a": "mine"}


def test_all_files_together_have_a_largest_size(workspace, monkeypatch):
    monkeypatch.setattr(workspaces, "SESSION_ROOM", Room(3, 10))
    monkeypatch.setattr(workspaces, "MEMORY_ROOM", Room(1, 4))
    workspace.write("/a", "123456")
    workspace.write("/b", "漢")
    workspace.write(MEMORY, "1234")

    for path, content in (("/c", "12"), ("/a", "12345678"), ("/b", "漢漢"), (MEMORY, "12345")):
        with pytest.raises(NoRoom, match="leaves"):
            workspace.write(path, content)
    with pytest.raises(NoRoom, match="already 1 files"):
        workspace.write("/memories/other", "")
    workspace.write("/c", "1")
    with pytest.raises(NoRoom, match="already 3 files"):
        workspace.write("/d", "")
    workspace.edit("/a", lambda content: content[::-1])

    assert workspace.read(["/a", "/b", "/c", "/d"]) == {"/a": "654321", "/b": "漢", "/c": "1"}


def test_what_is_over_a_limit_already_can_be_made_smaller(workspace, monkeypatch):
    workspace.write("/a", "1234567890")
    workspace.write("/b", "1234567890")
    monkeypatch.setattr(workspaces, "SESSION_ROOM", Room(1, 5))

    workspace.write("/a", "123456789")
    with pytest.raises(NoRoom):
        workspace.write("/a", "1234567890")

    assert workspace.read(["/a"]) == {"/a": "123456789"}


def test_the_limits_are_the_documented_ones():
    assert (Room(2_000, 67_108_864), Room(200, 1_048_576)) == (SESSION_ROOM, MEMORY_ROOM)


@pytest.mark.parametrize("path", ["/a", MEMORY])
def test_edits_at_the_same_time_are_all_kept(workspace, path):
    workspace.write(path, "")

    with ThreadPoolExecutor(4) as pool:
        for done in [
            pool.submit(workspace.edit, path, lambda content, n=n: f"{content}{n}\n")
            for n in range(12)
        ]:
            done.result()

    written = workspace.read([path])[path].split()
    assert sorted(map(int, written)) == list(range(12))


def test_writes_at_the_same_time_keep_to_the_limit(workspace, monkeypatch):
    monkeypatch.setattr(workspaces, "SESSION_ROOM", Room(5, 100))

    def write(number):
        try:
            workspace.write(f"/{number}", "x" * 10)
        except NoRoom:
            return 0
        return 1

    with ThreadPoolExecutor(4) as pool:
        written = sum(pool.map(write, range(12)))

    assert written == len(workspace.files()) == 5


def test_the_todo_list_is_replaced_as_a_whole(workspace):
    workspace.replace_todos([Todo("a", "pending"), Todo("b", "pending")])

    assert workspace.replace_todos([Todo("b", "completed")]) == [Todo("b", "completed")]
    assert workspace.replace_todos([]) == []
