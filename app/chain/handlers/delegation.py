"""task: hands a piece of work to a named helper, through a Delegate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from app.chain.handlers.inputs import checked
from app.domain.agents import Subagent
from app.domain.ports import Delegate
from app.domain.tools import ToolCall, ToolError, ToolHandler, ToolOutcome

MAX_DEPTH = 3  # helpers of helpers of helpers


def task(
    definition: Mapping[str, Any], helpers: Sequence[Subagent], delegate: Delegate | None
) -> ToolHandler:
    """What carries out `task`. Without a delegate it only says that nobody runs helpers here."""
    by_name = {each.name: each for each in helpers}

    def run(call: ToolCall, helper: str, prompt: str) -> ToolOutcome:
        if helper not in by_name:
            raise ToolError(f"There is no helper of this name, only {', '.join(by_name)}.")
        if not prompt.strip():
            raise ToolError("prompt is empty. The helper sees nothing else: tell it everything.")
        if delegate is None:
            raise ToolError("Helpers cannot be run here. Do this work yourself.")
        if delegate.depth >= MAX_DEPTH:
            raise ToolError("You are a helper yourself, too many deep to have one. Do it yourself.")
        return delegate.run(by_name[helper], prompt, call)

    return lambda call: checked(definition, partial(run, call))(call)
