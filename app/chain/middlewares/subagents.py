"""Subagents: named helpers that work in child sessions of their own."""

from __future__ import annotations

from collections.abc import Sequence

from app.chain.handlers.delegation import task
from app.chain.middleware import Middleware
from app.chain.prompts import contributed_block, contributed_tools
from app.domain.ports import Delegate
from app.domain.requests import RunState, SystemBlock, Tool


class Subagents(Middleware):
    """Contributes `task` and the list of helpers; nothing for an agent without any."""

    def __init__(self, delegate: Delegate | None = None) -> None:
        self._delegate = delegate

    def system_blocks(self, state: RunState) -> Sequence[SystemBlock]:
        helpers = "\n".join(f"- {each.name}: {each.description}" for each in state.agent.subagents)
        return contributed_block(state.agent, "subagents", helpers=helpers) if helpers else ()

    def tools(self, state: RunState) -> Sequence[Tool]:
        helpers = state.agent.subagents
        if not helpers:
            return ()
        return contributed_tools(
            state.agent, "subagents", lambda each: task(each, helpers, self._delegate)
        )
