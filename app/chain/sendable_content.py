"""Messages whose stored blocks a provider would refuse, as they are sent instead.

The doors let these in (`app.domain.validity.findings.REPAIRED`); stored messages keep what they
have. Done here and not on the wire, so that inspect shows, counts and hashes what is sent.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from app.chain.final_tools import with_final_tools
from app.chain.made import calling, made_message, names_called
from app.domain.jsontext import loads
from app.domain.messages import Block, MadeMessage, MessageRef
from app.domain.overrides import OverrideSet
from app.domain.ports import ContentReader, Estimator
from app.domain.previews import message_label
from app.domain.requests import ModelRequest
from app.domain.thinking import bare

_CHANGED_MARKS = ("cache", "error_media", "references")


def with_sendable_content(
    request: ModelRequest, overrides: OverrideSet, contents: ContentReader, estimator: Estimator
) -> ModelRequest:
    """The request with every such message put right; itself where there is none."""
    ending = _ending_on_thinking(request.messages)
    found = [
        each
        for each in request.messages
        if each.marks and (id(each) in ending or any(m in each.marks for m in _CHANGED_MARKS))
    ]
    if not found:
        return request
    tools = {tool.name for tool in with_final_tools(request, overrides).tools}
    calls = calling(request.messages, found)
    seqs = [each.seq for each in [*found, *calls] if not each.made]
    stored = contents.contents(request.state.session_id, seqs)
    names = names_called(calls, stored)
    new: dict[int, MessageRef | None] = {}
    for each in found:
        blocks: list[Block] = each.made.blocks if each.made else loads(stored[each.seq])
        sent = sent_blocks(blocks, tools, ends_on_thinking=id(each) in ending)
        if sent != blocks:
            new[id(each)] = _remade(each, sent, estimator, names)
    exchanged = [new.get(id(each), each) for each in request.messages]
    return replace(request, messages=[each for each in exchanged if each is not None])


def sent_blocks(
    blocks: Sequence[Block], tools: Collection[str], *, ends_on_thinking: bool
) -> list[Block]:
    """Without a client's cache marks (hango places its own), failed results as text alone,
    references to none but `tools`, and a turn that is not the last one without the thinking that
    it would end on."""
    left = bare(blocks) if ends_on_thinking else blocks
    return [_plain(_referring_to(tools, _as_text(block))) for block in left]


def ends_on_thinking(messages: Sequence[MessageRef]) -> set[int]:
    """By seq: messages whose thinking ends a turn of the assistant that is not the last one."""
    ending = _ending_on_thinking(messages)
    return {each.seq for each in messages if id(each) in ending}


def _ending_on_thinking(messages: Sequence[MessageRef]) -> set[int]:
    last = len(messages) - 1
    marked = [index for index, each in enumerate(messages) if each.marks]  # mostly none
    return {
        id(messages[index])
        for index in marked
        if "ends_thinking" in messages[index].marks
        and index < last
        and messages[index + 1].role != "assistant"
    }


def _remade(
    ref: MessageRef, blocks: list[Block], estimator: Estimator, names: Mapping[str, str]
) -> MessageRef | None:
    """The message with these blocks; None when there is nothing left to send."""
    if not blocks:
        return None
    label = ref.made.label if ref.made else message_label(ref.seq, ref.role)
    made = MadeMessage(ref.part, label, "as the provider takes it", blocks)
    new = made_message(ref.role, made, estimator, names)
    new.seq = ref.seq
    new.thinking_dropped = "thinking" in ref.marks and "thinking" not in new.marks
    return new


def _as_text(block: Block) -> Block:
    content = block.get("content")
    if block.get("type") == "tool_result" and block.get("is_error") and isinstance(content, list):
        return block | {"content": [each for each in content if each.get("type") == "text"]}
    return block


def _referring_to(tools: Collection[str], block: Block) -> Block:
    """A result without references to tools that are not sent (tool_reference_missing)."""
    content = block.get("content")
    if block.get("type") != "tool_result" or not isinstance(content, list):
        return block
    return block | {"content": [_as_reference(each, tools) for each in content]}


def _as_reference(block: Block, tools: Collection[str]) -> Block:
    name = block.get("tool_name")
    if block.get("type") != "tool_reference" or name in tools:
        return block
    return {"type": "text", "text": f"[tool reference: {name}]"}


def _plain(block: Block) -> Block:
    content = block.get("content")
    if block.get("type") == "tool_result" and isinstance(content, list):
        block = block | {"content": [_unmarked(each) for each in content]}
    return _unmarked(block)


def _unmarked(block: Block) -> Block:
    return {key: value for key, value in block.items() if key != "cache_control"}
