"""Agents: named configurations, and what of them shapes a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from app.domain.injections import Injection

MIDDLEWARES = ("todo", "filesystem", "subagents", "memory", "skills")
WITH_TOOLS = ("todo", "filesystem", "subagents", "skills")  # those that contribute some
BUILT_IN_TOOLS = frozenset(
    {
        "edit_file",
        "glob",
        "grep",
        "ls",
        "read_file",
        "read_skill",
        "task",
        "write_file",
        "write_todos",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subagent:
    """A named helper that the `task` tool can run."""

    name: str
    description: str
    system_prompt: str
    tools: tuple[str, ...] | None = None  # names, custom or built-in; None: the agent's


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """A named configuration.

    `tools` holds custom definitions and names: of built-in tools, and of tools from outside that
    the tenant has registered. Naming a built-in narrows the built-ins to those named; with none
    named, the enabled middlewares contribute all of theirs.
    """

    id: UUID
    tenant_id: UUID
    owner_id: UUID
    name: str
    model: str
    system_blocks: tuple[str, ...]  # one text per block; most agents have one
    max_tokens: int
    tools: tuple[Mapping[str, Any] | str, ...] = ()
    tool_choice: Mapping[str, Any] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    middleware: Mapping[str, bool] = field(default_factory=dict)  # absent: on
    subagents: tuple[Subagent, ...] = ()
    injections: tuple[Injection, ...] = ()
    strategy: Mapping[str, Any] = field(default_factory=dict)  # name, trigger, target
    shared: bool = False
    helper: str | None = None  # the name, where this is the agent as one of its helpers
    version: int = 1  # grows with each change
    created_at: str = ""
    updated_at: str = ""

    def as_helper(self, helper: Subagent) -> Agent:
        """The agent as it is in a session of this helper: with its prompt, and with its tools.

        All else (model, limits, memory, skills, helpers) is the agent's own, but that nothing is
        injected: a helper sees what it was told.
        """
        prompt = (helper.system_prompt,)
        own = replace(self, helper=helper.name, system_blocks=prompt, injections=())
        if helper.tools is None:
            return own
        custom = [tool for tool in self.custom_tools if tool_name(tool) in helper.tools]
        named = set(map(tool_name, custom))
        others = [name for name in helper.tools if name not in named]
        # Naming no built-in one would leave all of them: see `tools`.
        off = {} if BUILT_IN_TOOLS.intersection(others) else dict.fromkeys(WITH_TOOLS, False)
        return replace(own, tools=(*custom, *others), middleware={**self.middleware, **off})

    def uses(self, middleware: str) -> bool:
        """Whether this middleware contributes to the agent's requests."""
        return self.middleware.get(middleware, True)

    @property
    def custom_tools(self) -> tuple[Mapping[str, Any], ...]:
        """The definitions that the agent brings itself."""
        return tuple(tool for tool in self.tools if not isinstance(tool, str))

    @property
    def outside_names(self) -> tuple[str, ...]:
        """The names that it has of tools from outside."""
        return tuple(tool for tool in self._named if tool not in BUILT_IN_TOOLS)

    def allows(self, tool_name: str) -> bool:
        """Whether a built-in tool of this name may be contributed."""
        named = BUILT_IN_TOOLS.intersection(self._named)
        return not named or tool_name in named

    @property
    def _named(self) -> list[str]:
        return [tool for tool in self.tools if isinstance(tool, str)]


def tool_name(tool: Mapping[str, Any]) -> str:
    """The name of a custom tool; those of the provider's own may have none but their type."""
    return str(tool.get("name") or tool.get("type"))
