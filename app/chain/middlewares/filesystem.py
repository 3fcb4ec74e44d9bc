"""Filesystem: the session's virtual files, with the agent's memory under /memories/."""

from __future__ import annotations

from collections.abc import Sequence

from app.chain.middleware import Middleware
from app.chain.prompts import contributed_block, contributed_tools
from app.domain.requests import RunState, SystemBlock, Tool


class Filesystem(Middleware):
    """Contributes the file tools. No file of the host is ever touched."""

    def system_blocks(self, state: RunState) -> Sequence[SystemBlock]:
        return contributed_block(state.agent, "filesystem")

    def tools(self, state: RunState) -> Sequence[Tool]:
        return contributed_tools(state.agent, "filesystem")
