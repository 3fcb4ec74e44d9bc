"""Filesystem: the session's virtual files, with the agent's memory under /memories/."""

from __future__ import annotations

from collections.abc import Sequence

from app.chain.handlers.answers import Answers
from app.chain.handlers.files import FileTools
from app.chain.handlers.inputs import carried_out
from app.chain.handlers.search import SearchTools
from app.chain.middleware import Middleware
from app.chain.middlewares.guard import budget_of
from app.chain.prompts import contributed_block, contributed_tools
from app.domain.ports import Estimator, Workspace
from app.domain.requests import RunState, SystemBlock, Tool


class Filesystem(Middleware):
    """Contributes the file tools. No file of the host is ever touched."""

    def __init__(self, estimator: Estimator, workspace: Workspace | None = None) -> None:
        self._estimator = estimator
        self._workspace = workspace

    def system_blocks(self, state: RunState) -> Sequence[SystemBlock]:
        return contributed_block(state.agent, "filesystem")

    def tools(self, state: RunState) -> Sequence[Tool]:
        if self._workspace is None:
            return contributed_tools(state.agent, "filesystem")
        answers = Answers(budget_of(state).tool_output, self._estimator)
        files = FileTools(self._workspace, answers).by_name()
        handlers = carried_out(files | SearchTools(self._workspace, answers).by_name())
        return contributed_tools(state.agent, "filesystem", handlers)
