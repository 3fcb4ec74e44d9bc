"""What the built-in tools of a run work on, in the store: one short transaction an operation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from uuid import UUID

import msgspec

from app.domain.files import (
    MEMORY_ROOM,
    SESSION_ROOM,
    MemoryReadOnly,
    NoSuchFile,
    Room,
    check_length,
    check_room,
)
from app.domain.paths import MEMORY_ROOT
from app.domain.ports import FileSize, Todo
from app.domain.principals import Principal
from app.domain.sessions import Session
from app.domain.text import clean
from app.errors import NotFound
from app.services import files, memory
from app.store.transaction import Database, Transaction


class SessionWorkspace:
    """The `Workspace` of a session, through the eyes of one principal.

    Every operation raises NotFound when the session is not there, or no longer the principal's.
    """

    def __init__(self, database: Database, principal: Principal, session: Session) -> None:
        self._database = database
        self._principal = principal
        self._session_id: UUID = session.id
        self._agent_id: UUID = session.agent_id

    def files(self) -> Sequence[FileSize]:
        """The session's files and the agent's memory, by path."""
        with self._database.reading(self._principal) as tx:
            tx.sessions.get(self._session_id)
            own = [FileSize(each.path, each.size_bytes) for each in tx.files.of(self._session_id)]
            remembered = tx.memory.sizes(self._agent_id)
        return sorted([*own, *remembered], key=lambda each: each.path)

    def read(self, paths: Collection[str]) -> Mapping[str, str]:
        """The contents of those of these files that are there, by path."""
        remembered = [path for path in paths if path.startswith(MEMORY_ROOT)]
        own = [path for path in paths if not path.startswith(MEMORY_ROOT)]
        with self._database.reading(self._principal) as tx:
            tx.sessions.get(self._session_id)
            found = tx.files.contents(self._session_id, own) if own else {}
            return found | (tx.memory.contents(self._agent_id, remembered) if remembered else {})

    def write(self, path: str, content: str) -> bool:
        """Make `content` the whole file. Whether there was one before.

        Raises:
            MemoryReadOnly: it is a memory file, and the agent not the principal's to change.
            NoRoom
        """
        with self._changing(path) as place:
            before = place.held()
            place.put(content, before)
        return before is not None

    def edit(self, path: str, change: Callable[[str], str]) -> None:
        """Make what `change` makes of the file's content its content; nobody writes in between.

        Raises:
            NoSuchFile
            MemoryReadOnly
            NoRoom
        """
        with self._changing(path) as place:
            before = place.held()
            if before is None:
                raise NoSuchFile(path)
            place.put(change(before), before)

    def replace_todos(self, items: Sequence[Todo]) -> Sequence[Todo]:
        """Make `items` the whole todo list, and answer with the list as it stands."""
        with self._database.transaction(self._principal) as tx:
            tx.todos.replace(self._session_id, items)
            return tx.todos.of(self._session_id)

    @contextmanager
    def _changing(self, path: str) -> Iterator[_OwnFile | _MemoryFile]:
        """One file to write. All who write beside it by tools wait, so that limits hold."""
        with self._database.transaction(self._principal) as tx:
            if path.startswith(MEMORY_ROOT):
                tx.sessions.get(self._session_id)
                yield _MemoryFile(tx, self._agent_id, path)
            else:
                tx.sessions.lock(self._session_id)
                yield _OwnFile(tx, self._session_id, path)


class _OwnFile:
    """A path of the session's own files, in a transaction that holds the session."""

    def __init__(self, tx: Transaction, session_id: UUID, path: str) -> None:
        self._tx, self._session_id, self._path = tx, session_id, path

    def held(self) -> str | None:
        """Its content; None where no file is."""
        found = self._tx.files.held(self._session_id, self._path)
        return found.content if found else None

    def put(self, content: str, before: str | None) -> None:
        """Write it. Raises NoRoom."""
        _check_fits(content, before, self._tx.files.used(self._session_id), SESSION_ROOM)
        files.write(self._tx, self._session_id, self._path, content)


class _MemoryFile:
    """A path of the agent's memory, in a transaction that holds the agent."""

    def __init__(self, tx: Transaction, agent_id: UUID, path: str) -> None:
        """Raises MemoryReadOnly."""
        self._tx, self._agent_id, self._path = tx, agent_id, path
        try:
            tx.agents.get_writable(agent_id)
        except NotFound:
            raise MemoryReadOnly from None

    def held(self) -> str | None:
        """Its content; None where no file is."""
        found = self._tx.memory.held(self._agent_id, self._path)
        return found.content if found else None

    def put(self, content: str, before: str | None) -> None:
        """Write it. Raises NoRoom."""
        _check_fits(content, before, self._tx.memory.used(self._agent_id), MEMORY_ROOM)
        memory.write(self._tx, self._agent_id, self._path, content)


def _check_fits(content: str, before: str | None, used: Room, room: Room) -> None:
    check_length(len(content))
    old = None if before is None else len(before.encode())
    others = msgspec.structs.replace(used, size_bytes=used.size_bytes - (old or 0))
    check_room(others, room, len(clean(content).encode()), old)
