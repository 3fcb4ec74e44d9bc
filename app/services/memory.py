"""Memory files of an agent."""

from __future__ import annotations

from uuid import UUID

from app.domain.audit import Action
from app.domain.paths import check_memory_path
from app.domain.ports import MemoryFile
from app.store.transaction import Transaction


def write(tx: Transaction, agent_id: UUID, path: str, content: str) -> MemoryFile:
    """Store a memory file, new or in the place of the one with this path.

    Raises:
        NotFound: the agent is not the principal's to change.
        BadPath: no memory file may have this path.
    """
    tx.agents.get_writable(agent_id)
    file = tx.memory.put(agent_id, check_memory_path(path), content)
    tx.audit.add(Action.MEMORY_WRITE, "agent", agent_id, {"path": path, "characters": len(content)})
    return file


def delete(tx: Transaction, agent_id: UUID, path: str) -> None:
    """Remove a memory file.

    Raises:
        NotFound: the agent is not the principal's to change, or has no such file.
    """
    tx.agents.get_writable(agent_id)
    tx.memory.delete(agent_id, path)
    tx.audit.add(Action.MEMORY_DELETE, "agent", agent_id, {"path": path})
