"""The hooks that a slot of the chain may have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from app.domain.requests import ModelRequest, RunState, SystemBlock, Tool

Reply = Any  # what the innermost handler answers: a model's response, or the captured request
CallNext = Callable[[ModelRequest], Reply]


class Middleware:
    """One slot. Each hook has a default that does nothing."""

    def before_run(self, state: RunState) -> None:
        """Once per run: load what the run needs into `state`, so that it cannot change midway."""

    def system_blocks(self, state: RunState) -> Sequence[SystemBlock]:
        """The system blocks that this slot contributes, each tagged with its part."""
        del state
        return ()

    def tools(self, state: RunState) -> Sequence[Tool]:
        """The tool definitions that this slot contributes."""
        del state
        return ()

    def wrap_model_call(self, request: ModelRequest, call_next: CallNext) -> Reply:
        """Change the request on its way out, or what came back."""
        return call_next(request)
