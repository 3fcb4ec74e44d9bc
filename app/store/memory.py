"""Memory files of agents."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from typing import Any
from uuid import UUID

from sqlalchemy import Integer, Select, cast, delete, func, select

from app.domain.files import Room
from app.domain.ports import FileSize, MemoryFile
from app.domain.text import clean
from app.errors import NotFound
from app.store.hot import Hot, parameter
from app.store.repository import Repository, insert_where
from app.store.scope import Scope
from app.store.tables import agents, memory_files

_SIZE = func.octet_length(memory_files.c.content)
_COLUMNS = [memory_files.c[name] for name in MemoryFile.__struct_fields__]


@Hot
def _of_agent(scope: Scope) -> Select[Any]:
    mine = scope.of_agent(memory_files, scope.usable_agent())
    found = select(*_COLUMNS).where(mine, memory_files.c.agent_id == parameter("agent"))
    return found.order_by(memory_files.c.path)


class Memory(Repository):
    """The memory of agents: read with the agent, written by who may change it."""

    def of(self, agent_id: UUID) -> list[MemoryFile]:
        """The agent's files, by path; none for an agent that the principal cannot use."""
        return [MemoryFile(*row) for row in self._hot(_of_agent, agent=agent_id)]

    def get(self, agent_id: UUID, path: str) -> MemoryFile:
        """Raises NotFound."""
        found = select(*_COLUMNS).where(
            self._scope.of_agent(memory_files, self._scope.usable_agent()),
            memory_files.c.agent_id == agent_id,
            memory_files.c.path == path,
        )
        return MemoryFile(*self._one(found))

    def sizes(self, agent_id: UUID) -> list[FileSize]:
        """The agent's files by path, without their content."""
        found = select(memory_files.c.path, _SIZE).where(
            self._scope.of_agent(memory_files, self._scope.usable_agent()),
            memory_files.c.agent_id == agent_id,
        )
        return [FileSize(*row) for row in self._rows(found.order_by(memory_files.c.path))]

    def contents(self, agent_id: UUID, paths: Collection[str]) -> dict[str, str]:
        """The contents of those of these files that are there, by path."""
        found = select(memory_files.c.path, memory_files.c.content).where(
            self._scope.of_agent(memory_files, self._scope.usable_agent()),
            memory_files.c.agent_id == agent_id,
            memory_files.c.path.in_(paths),
        )
        return {row.path: row.content for row in self._rows(found)}

    def held(self, agent_id: UUID, path: str) -> MemoryFile | None:
        """A file to change, or None; nobody else writes it until the transaction ends."""
        found = select(*_COLUMNS).where(
            self._scope.of_agent(memory_files, self._scope.writable_agent()),
            memory_files.c.agent_id == agent_id,
            memory_files.c.path == path,
        )
        row = self._first(found.with_for_update())
        return MemoryFile(*row) if row else None

    def used(self, agent_id: UUID) -> Room:
        """What all files of the agent hold together."""
        found = select(func.count(), func.coalesce(func.sum(_SIZE), 0)).where(
            self._scope.of_agent(memory_files, self._scope.usable_agent()),
            memory_files.c.agent_id == agent_id,
        )
        return Room(*self._one(found))

    def put(self, agent_id: UUID, path: str, content: str) -> MemoryFile:
        """Write a file; its version grows when the content is another. Raises NotFound."""
        stored = clean(content)
        values = {
            "tenant_id": self._scope.tenant_id,
            "agent_id": agent_id,
            "path": path,
            "content": stored,
            "sha256": hashlib.sha256(stored.encode()).hexdigest(),
        }
        writable = select(agents.c.id).where(self._scope.writable_agent(), agents.c.id == agent_id)
        new = insert_where(memory_files, values, writable.exists())
        changed = memory_files.c.sha256 != new.excluded.sha256
        written = new.on_conflict_do_update(
            index_elements=list(memory_files.primary_key),
            set_={
                "content": new.excluded.content,
                "sha256": new.excluded.sha256,
                "version": memory_files.c.version + cast(changed, Integer),
                "updated_at": func.clock_timestamp(),
            },
        )
        return MemoryFile(*self._one(written.returning(*_COLUMNS)))

    def delete(self, agent_id: UUID, path: str) -> None:
        """Raises NotFound."""
        gone = delete(memory_files).where(
            self._scope.of_agent(memory_files, self._scope.writable_agent()),
            memory_files.c.agent_id == agent_id,
            memory_files.c.path == path,
        )
        if not self._connection.execute(gone).rowcount:
            raise NotFound
