"""A request as the body of a Messages API call. Provenance stays behind; nothing else changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from app.domain.catalogue import facts_for
from app.domain.jsontext import loads
from app.domain.messages import Block, MessageRef
from app.domain.requests import ModelRequest, SystemBlock, Tool
from app.provider.repairs import Turn, repaired

CACHE_MARK = {"type": "ephemeral"}


def body(request: ModelRequest, contents: Mapping[int, str]) -> dict[str, Any]:
    """The JSON body. `contents` has the stored JSON of each persisted message, by seq.

    Neighbours of one role are written as one turn, as the provider would join them anyway, so
    that results of parallel calls stand together and before any text.
    """
    whole: dict[str, Any] = {"model": request.model, "max_tokens": request.max_tokens}
    if request.tools:
        whole["tools"] = [_tool(tool) for tool in request.tools]
    if request.tool_choice:
        whole["tool_choice"] = dict(request.tool_choice)
    if request.system:
        whole["system"] = [_system(block) for block in request.system]
    takes_system = facts_for(request.model).system_messages
    turns = repaired(_turns(request.messages, contents), system_messages=takes_system)
    whole["messages"] = [{"role": turn.role, "content": turn.blocks} for turn in turns]
    return whole | dict(request.parameters)


def blocks_of(message: MessageRef, contents: Mapping[int, str]) -> list[Block]:
    """The blocks of one message of a request."""
    if message.made:
        return message.made.blocks
    blocks: list[Block] = loads(contents[message.seq])
    return blocks


def _turns(messages: Iterable[MessageRef], contents: Mapping[int, str]) -> Iterator[Turn]:
    for role, rows in groupby(messages, key=lambda each: each.role):
        yield Turn(role, [block for row in rows for block in blocks_of(row, contents)])


def _system(block: SystemBlock) -> dict[str, Any]:
    text = {"type": "text", "text": block.text}
    return text | {"cache_control": CACHE_MARK} if block.cache else text


def _tool(tool: Tool) -> dict[str, Any]:
    definition = dict(tool.definition)
    return definition | {"cache_control": CACHE_MARK} if tool.cache else definition
