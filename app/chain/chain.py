"""Assembles every model request: the only way that one is built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from app.chain.middleware import CallNext, Middleware, Reply
from app.chain.middlewares.context_overrides import overrides_of
from app.domain.agents import Agent, tool_name
from app.domain.catalogue import facts_for
from app.domain.messages import MessageRef
from app.domain.overrides import OverrideSet
from app.domain.parts import system_part, tool_part
from app.domain.requests import ModelRequest, RunState, SystemBlock, Tool
from app.domain.thinking import with_lenient_binding


@dataclass(frozen=True, slots=True)
class Contributed:
    """What was gathered for a call before any override acted; kept in the state for inspect."""

    system: tuple[SystemBlock, ...]
    tools: tuple[Tool, ...]


class Chain:
    """An ordered stack of middlewares, outermost first."""

    def __init__(self, stack: Sequence[Middleware]) -> None:
        self.stack = tuple(stack)

    def before_run(self, state: RunState) -> None:
        """Let every slot load what the run needs."""
        for middleware in self.stack:
            middleware.before_run(state)

    def model_call(self, state: RunState, handler: CallNext) -> Reply:
        """Assemble the next request of this run and hand it through every slot to `handler`."""
        contributed = Contributed(self._system(state), self._tools(state))
        state.put(contributed)
        agent = state.agent
        request = ModelRequest(
            model=agent.model,
            max_tokens=agent.max_tokens,
            # Here and not later, so that PromptCache marks a block that is really sent.
            system=apply_to_system(overrides_of(state), contributed.system),
            tools=contributed.tools,
            messages=_messages(state),
            state=state,
            tool_choice=agent.tool_choice,
            parameters=with_lenient_binding(agent.parameters, facts_for(agent.model)),
        )
        return reduce(_wrapped, reversed(self.stack), handler)(request)

    def _system(self, state: RunState) -> tuple[SystemBlock, ...]:
        blocks = own_system_blocks(state.agent)
        return (*blocks, *(b for m in self.stack for b in m.system_blocks(state)))

    def _tools(self, state: RunState) -> tuple[Tool, ...]:
        own = own_tools(state.agent)
        return (*own, *(tool for m in self.stack for tool in m.tools(state)))


def _wrapped(call_next: CallNext, middleware: Middleware) -> CallNext:
    return lambda request: middleware.wrap_model_call(request, call_next)


def _messages(state: RunState) -> list[MessageRef]:
    history = state.history
    if history.checkpoint is None:
        return history.messages
    return [history.checkpoint.summary, *history.messages]


def own_system_blocks(agent: Agent) -> list[SystemBlock]:
    """The agent's own prompt: `system:agent`, and for further blocks `system:agent:2` and on."""
    origin = f"agent system_prompt, version {agent.version}"
    if agent.helper is not None:
        origin = f"helper {agent.helper}, as it was when the session began"
    return [
        SystemBlock(system_part("agent", None if n == 1 else str(n)), text, "agent", origin)
        for n, text in enumerate(agent.system_blocks, start=1)
        if text.strip()
    ]


def own_tools(agent: Agent) -> list[Tool]:
    """The tools that the agent brings itself."""
    origin = f"agent tools, version {agent.version}"
    return [
        Tool(tool_part(name), name, definition, "agent", origin)
        for definition in agent.custom_tools
        if (name := tool_name(definition))
    ]


def apply_to_system(
    overrides: OverrideSet, blocks: tuple[SystemBlock, ...]
) -> tuple[SystemBlock, ...]:
    """Leave excluded blocks out and put replacements in their place."""
    if not len(overrides):
        return blocks
    return tuple(
        block if (text := overrides.replacement(block.part)) is None else _with_text(block, text)
        for block in blocks
        if not overrides.excludes(block.part)
    )


def _with_text(block: SystemBlock, text: str) -> SystemBlock:
    """The block with another text, in the frame that its contributor puts around it."""
    framed, source = text, None
    if block.source:
        before, _, behind = block.text.partition(block.source)
        framed, source = f"{before}{text}{behind}", text
    return replace(block, text=framed, source=source)
