"""ContextOverrides: what people chose to leave out or to replace, loaded once per run."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol
from uuid import UUID

import msgspec

from app.chain.middleware import CallNext, Middleware, Reply
from app.chain.middlewares.patch_tool_calls import ending_on_user
from app.domain.messages import MessageRef
from app.domain.overrides import NO_OVERRIDES, OverrideSet
from app.domain.ports import Estimator
from app.domain.requests import ModelRequest, RunState


class OverrideSource(Protocol):
    """Where the saved overrides come from."""

    def for_run(self, agent_id: UUID, session_id: UUID) -> OverrideSet:
        """The agent's and the session's overrides together."""


class _Loaded(msgspec.Struct, frozen=True):
    overrides: OverrideSet


class Unfiltered(msgspec.Struct, frozen=True):
    """The messages before any override acted on them; kept in the state for inspect."""

    messages: list[MessageRef]


class ContextOverrides(Middleware):
    """Applies the overrides to messages and the summary.

    Stands right before Guard, so that compaction and the budget see the filtered history. System
    and tool overrides act elsewhere: docs/system-architecture.md, "Where an override acts".
    """

    def __init__(self, source: OverrideSource, estimator: Estimator) -> None:
        self._source = source
        self._estimator = estimator

    def before_run(self, state: RunState) -> None:
        """Load the overrides once, so that a run never sees its context change between turns."""
        state.put(_Loaded(self._source.for_run(state.agent.id, state.session_id)))

    def wrap_model_call(self, request: ModelRequest, call_next: CallNext) -> Reply:
        overrides = overrides_of(request.state)
        if not overrides.on_messages():
            return call_next(request)
        request.state.put(Unfiltered(request.messages))
        kept = [each for each in request.messages if not overrides.excludes(each.part)]
        # What is left may end on the assistant's turn although the history did not.
        return call_next(replace(request, messages=ending_on_user(kept, self._estimator)))


def overrides_of(state: RunState) -> OverrideSet:
    """The overrides that this run goes by."""
    loaded = state.find(_Loaded)
    return loaded.overrides if loaded else NO_OVERRIDES
