"""Todo: the session's todo list, and how to use it."""

from __future__ import annotations

from collections.abc import Sequence

from app.chain.handlers.inputs import carried_out
from app.chain.handlers.todos import TodoTools
from app.chain.middleware import Middleware
from app.chain.prompts import contributed_block, contributed_tools
from app.domain.ports import Workspace
from app.domain.requests import RunState, SystemBlock, Tool


class Todo(Middleware):
    """Contributes `write_todos`.

    The list itself stays out of the system prompt: it would change with every step, and with it
    the cached prefix and the thinking that is bound to it. The model reads it in tool results.
    """

    def __init__(self, workspace: Workspace | None = None) -> None:
        self._workspace = workspace

    def system_blocks(self, state: RunState) -> Sequence[SystemBlock]:
        return contributed_block(state.agent, "todo")

    def tools(self, state: RunState) -> Sequence[Tool]:
        if self._workspace is None:
            return contributed_tools(state.agent, "todo")
        handlers = carried_out(TodoTools(self._workspace).by_name())
        return contributed_tools(state.agent, "todo", handlers)
