"""Leaves out the thinking that the provider would no longer take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol
from uuid import UUID

import msgspec

from app.chain.final_tools import with_final_tools
from app.chain.fingerprint import definition_sha256, text_sha256
from app.chain.made import made_message
from app.chain.sendable_content import ends_on_thinking
from app.domain.blocks import THINKING
from app.domain.catalogue import facts_for
from app.domain.jsontext import loads
from app.domain.messages import Block, MadeMessage, MessageRef
from app.domain.overrides import OverrideSet
from app.domain.ports import ContentReader, Estimator
from app.domain.previews import message_label
from app.domain.requests import ModelRequest, RunState
from app.domain.thinking import Thought, bare, bare_sha256, head_sha256, prefixes, sendable


class ThoughtSource(Protocol):
    """Where what is kept beside thinking comes from."""

    def of(self, session_id: UUID) -> Mapping[int, Thought]:
        """By the seq of its message."""


class LoadedThinking(msgspec.Struct, frozen=True):
    """What is kept beside the thinking of a run's history, as it was when the run began."""

    thoughts: Mapping[int, Thought]


def load(state: RunState, source: ThoughtSource) -> None:
    """Read what is kept beside the history's thinking, where the model binds it to its prefix."""
    binds = facts_for(state.agent.model).preserved_thinking
    if binds and any("thinking" in each.marks for each in state.history.messages if each.marks):
        state.put(LoadedThinking(source.of(state.session_id)))


def prefix_sha256(request: ModelRequest, overrides: OverrideSet) -> str:
    """The hash of the system and the tools that this request will be sent with."""
    tools = with_final_tools(request, overrides).tools
    return head_sha256(
        (text_sha256(block.text) for block in request.system),
        (definition_sha256(tool.definition) for tool in tools),
    )


def without_lost_thinking(
    request: ModelRequest, overrides: OverrideSet, contents: ContentReader, estimator: Estimator
) -> ModelRequest:
    """The request without the thinking that is bound to another prefix than it now has."""
    loaded = request.state.find(LoadedThinking)
    if loaded is None:
        return request
    holding = [each for each in request.messages if "thinking" in each.marks]
    thoughts = [_thought(each, loaded.thoughts) for each in holding]
    now = prefixes(
        prefix_sha256(request, overrides), request.messages, {each.seq: each for each in thoughts}
    )
    unfit = {*_touched(holding), *ends_on_thinking(request.messages)}
    kept = sendable(thoughts, now, touched=unfit)
    lost = [each for each in holding if each.seq not in kept]
    if not lost:
        return request
    stored = contents.contents(request.state.session_id, [e.seq for e in lost if not e.made])
    new = {each.seq: _bare(each, stored, estimator) for each in lost}
    return replace(request, messages=list(_exchanged(request.messages, new)))


def _thought(ref: MessageRef, known: Mapping[int, Thought]) -> Thought:
    """What is kept beside it; of a message that nothing is kept for, nothing is known."""
    thought = known.get(ref.seq) or Thought(ref.seq, ref.sha256, None, None)
    if ref.made is None:
        return thought
    return msgspec.structs.replace(thought, bare_sha256=bare_sha256(ref.role, ref.made.blocks))


def _touched(holding: Sequence[MessageRef]) -> Iterator[int]:
    """Replaced messages with thinking behind the text that was put in."""
    for ref in holding:
        kinds = [block.get("type") for block in ref.made.blocks] if ref.made else []
        if "text" in kinds and any(kind in THINKING for kind in kinds[kinds.index("text") :]):
            yield ref.seq


def _bare(ref: MessageRef, stored: Mapping[int, str], estimator: Estimator) -> MessageRef | None:
    """The message without its thinking; None when that leaves nothing to send."""
    blocks: list[Block] = ref.made.blocks if ref.made else loads(stored[ref.seq])
    left = bare(blocks)
    if not left:
        return None
    label = ref.made.label if ref.made else message_label(ref.seq, ref.role)
    made = MadeMessage(ref.part, label, "thinking left out", left)
    new = made_message(ref.role, made, estimator)
    new.seq, new.thinking_dropped = ref.seq, True
    return new


def _exchanged(
    messages: Sequence[MessageRef], new: Mapping[int, MessageRef | None]
) -> Iterator[MessageRef]:
    for each in messages:
        if each.seq not in new or not each.seq:
            yield each
        elif (other := new[each.seq]) is not None:
            yield other
