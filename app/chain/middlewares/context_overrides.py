"""ContextOverrides: what people chose to leave out or to replace, loaded once per run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol
from uuid import UUID

import msgspec
import structlog

from app.chain.made import calling, made_message, names_called
from app.chain.middleware import CallNext, Middleware, Reply
from app.chain.middlewares.patch_tool_calls import ending_on_user
from app.chain.sendable_content import with_sendable_content
from app.chain.thinking import ThoughtSource, without_lost_thinking
from app.chain.thinking import load as load_thinking
from app.domain.jsontext import loads
from app.domain.messages import MadeMessage, MessageRef
from app.domain.overrides import NO_OVERRIDES, OverrideSet
from app.domain.parts import seq_of
from app.domain.ports import ContentReader, Estimator
from app.domain.replacing import with_text
from app.domain.requests import ModelRequest, RunState
from app.domain.validity.history import check_history, is_plainly_valid

log = structlog.get_logger(__name__)


class OverrideSource(Protocol):
    """Where the saved overrides come from."""

    def for_run(self, agent_id: UUID, session_id: UUID) -> OverrideSet:
        """The agent's and the session's overrides together."""


class _Loaded(msgspec.Struct, frozen=True):
    overrides: OverrideSet


class Unfiltered(msgspec.Struct, frozen=True):
    """The messages before any override acted on them; kept in the state for inspect."""

    messages: list[MessageRef]


class Suspended(msgspec.Struct, frozen=True):
    """The message overrides were left out of this call: they would have made it invalid."""

    reason: str  # the code of the first fault
    at: str  # the part that it was found at


class ContextOverrides(Middleware):
    """Applies the overrides to messages and the summary.

    Stands right before Guard, so that compaction and the budget see the filtered history. System
    and tool overrides act elsewhere: docs/system-architecture.md, "Where an override acts".
    """

    def __init__(
        self,
        source: OverrideSource,
        thoughts: ThoughtSource,
        contents: ContentReader,
        estimator: Estimator,
    ) -> None:
        self._source = source
        self._thoughts = thoughts
        self._contents = contents
        self._estimator = estimator

    def before_run(self, state: RunState) -> None:
        """Load the overrides once, so that a run never sees its context change between turns.

        Fails with the store: a call without the overrides is not what anybody asked for.
        """
        state.put(_Loaded(self._source.for_run(state.agent.id, state.session_id)))
        load_thinking(state, self._thoughts)

    def wrap_model_call(self, request: ModelRequest, call_next: CallNext) -> Reply:
        overrides = overrides_of(request.state)
        filtered = self._filtered(request, overrides) if overrides.on_messages() else request
        # An override, or any other change of the prefix, can make thinking behind it invalid.
        bound = without_lost_thinking(filtered, overrides, self._contents, self._estimator)
        sent = with_sendable_content(bound, overrides, self._contents, self._estimator)
        if sent is not request:
            request.state.put(Unfiltered(request.messages))
        return call_next(sent)

    def _filtered(self, request: ModelRequest, overrides: OverrideSet) -> ModelRequest:
        kept, left_out = parted(request.messages, overrides)
        kept = self._replaced(kept, overrides, request)
        if fault := _first_fault(kept, left_out):
            # The set was valid when it was saved; a message that came later broke a pair. The
            # history as it is beats an invalid request.
            request.state.put(Suspended(*fault))
            log.error("overrides_suspended", reason=fault[0], session=str(request.state.session_id))
            return request
        # What is left may end on the assistant's turn although the history did not.
        return replace(request, messages=ending_on_user(kept, self._estimator))

    def _replaced(
        self, messages: list[MessageRef], overrides: OverrideSet, request: ModelRequest
    ) -> list[MessageRef]:
        wanted = overrides.parts("replace")
        if not wanted:
            return messages
        replaced = [each for each in messages if each.part in wanted]
        calls = calling(messages, replaced)
        seqs = [each.seq for each in [*replaced, *calls] if not each.made]
        stored = self._contents.contents(request.state.session_id, seqs) if seqs else {}
        names = names_called(calls, stored)
        new = {
            each.part: self._with_replacement(each, overrides, stored, names) for each in replaced
        }
        return [new.get(each.part, each) for each in messages]

    def _with_replacement(
        self,
        ref: MessageRef,
        overrides: OverrideSet,
        stored: Mapping[int, str],
        names: Mapping[str, str],
    ) -> MessageRef:
        blocks = ref.made.blocks if ref.made else loads(stored[ref.seq])
        text = overrides.replacement(ref.part)
        if text is None:
            return ref
        label = ref.made.label if ref.made else f"#{ref.seq} {ref.role}"
        blocks = with_text(ref.role, blocks, text)
        new = made_message(
            ref.role, MadeMessage(ref.part, label, "override", blocks), self._estimator, names
        )
        new.seq = ref.seq
        return new


def parted(
    messages: list[MessageRef], overrides: OverrideSet
) -> tuple[list[MessageRef], list[MessageRef]]:
    """What is sent, and what is left out: excluded, or the synthetic result of an excluded call."""
    gone = overrides.parts("exclude")
    kept: list[MessageRef] = []
    left_out: list[MessageRef] = []
    seqs = {seq_of(part) for part in gone}  # cheaper to ask of each row than its part
    for each in messages:
        excluded = each.part in gone if each.made else each.seq in seqs
        (left_out if excluded else kept).append(each)
    calls = {call for each in left_out for call in each.tool_use_ids.split()}
    orphans = [each for each in kept if each.made and each.tool_result_ids in calls]
    if orphans:
        gone |= {each.part for each in orphans}
        kept = [each for each in kept if each.part not in gone]
    return kept, left_out + orphans


def _first_fault(kept: list[MessageRef], left_out: list[MessageRef]) -> tuple[str, str] | None:
    """Why these messages cannot be sent, and where; None when they can."""
    if is_plainly_valid(kept, left_out):
        return None
    faults = check_history(kept)
    return (faults[0].code, faults[0].at) if faults else None


def overrides_of(state: RunState) -> OverrideSet:
    """The overrides that this run goes by."""
    loaded = state.find(_Loaded)
    return loaded.overrides if loaded else NO_OVERRIDES
