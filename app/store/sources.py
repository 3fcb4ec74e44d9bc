"""What the chain's `before_run` hooks read."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from app.domain.outside import OutsideTool
from app.domain.ports import MemoryFile, Skill, Todo
from app.store.memory import Memory
from app.store.outside import HttpTools, McpServers, outside_tools
from app.store.skills import Skills
from app.store.todos import Todos


class StoredSources:
    """`Sources` over one transaction."""

    def __init__(
        self,
        memory: Memory,
        skills: Skills,
        todos: Todos,
        http_tools: HttpTools,
        mcp_servers: McpServers,
    ) -> None:
        self._memory = memory
        self._skills = skills
        self._todos = todos
        self._http_tools = http_tools
        self._mcp_servers = mcp_servers

    def memory(self, agent_id: UUID) -> Sequence[MemoryFile]:
        """The agent's memory files, by path."""
        return self._memory.of(agent_id)

    def skills(self, agent_id: UUID) -> Sequence[Skill]:
        """The agent's skills, by name."""
        return self._skills.of(agent_id)

    def todos(self, session_id: UUID) -> Sequence[Todo]:
        """The session's todo list, in order."""
        return self._todos.of(session_id)

    def outside(self, names: Sequence[str]) -> Sequence[OutsideTool]:
        """The registered tools that these names mean, in their order."""
        return outside_tools(self._http_tools, self._mcp_servers, names)
