"""Thinking that is bound to what stands before it, and which of it can go back.

On models with preserved thinking a block is good only behind the very prefix that it was made
under: system, the set of tools, and every message before it, thinking not counted. Blocks may be
left out from the start, from the end, or all; never from the middle, and what was once left out
by a real call must not come back (Messages API, preserved thinking).

A message's blocks are kept or left out together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from app.domain.blocks import THINKING
from app.domain.catalogue import ModelFacts
from app.domain.jsontext import dumps
from app.domain.messages import Block, MessageRef, message_sha256

_LENIENT = {"prefix_mismatch_behavior": "drop_block"}


class Thought(msgspec.Struct, frozen=True):
    """What is kept beside a message with thinking."""

    seq: int
    bare_sha256: str  # of the message without its thinking
    prefix_sha256: str | None  # what stood before it when it was made; None: not known
    after_seq: int | None  # the nearest message before it whose thinking was sent then
    retired: bool = False  # a run has left it out: it must not come back


def bare(blocks: Sequence[Block]) -> list[Block]:
    """The blocks without thinking."""
    return [block for block in blocks if block.get("type") not in THINKING]


def bare_sha256(role: str, blocks: Sequence[Block]) -> str:
    """The hash of a message without its thinking."""
    return message_sha256(role, dumps(bare(blocks)))


def head_sha256(system: Iterable[str], tools: Iterable[str]) -> str:
    """The hash of what stands before all messages; `tools` are hashes, their order is nothing."""
    return sha256("\n".join(["system", *system, "tools", *sorted(tools)]).encode()).hexdigest()


def prefixes(
    head: str, messages: Sequence[MessageRef], thoughts: Mapping[int, Thought]
) -> dict[int, str]:
    """For each message of these that has or had thinking, by seq: the hash of what precedes it."""
    rolling = head
    found: dict[int, str] = {}
    for message in messages:
        thought = thoughts.get(message.seq)
        if thought:
            found[message.seq] = rolling
        content = message.sha256
        if thought and "thinking" in message.marks:
            content = thought.bare_sha256
        rolling = sha256(f"{rolling}\n{content}".encode()).hexdigest()
    return found


def sendable(
    thoughts: Sequence[Thought], prefixes_now: Mapping[int, str], touched: Iterable[int] = ()
) -> set[int]:
    """The messages whose thinking can go back: by seq, out of those that are sent.

    The longest run of good blocks that reaches to the newest one which no run has left out.
    `touched`: messages whose thinking cannot go back for another reason: their own text in front
    of it was replaced, or their turn would end on it.
    """
    changed = set(touched)
    run: list[Thought] = []
    for thought in sorted(thoughts, key=lambda each: each.seq, reverse=True):
        if thought.retired:
            continue
        good = thought.seq not in changed and thought.prefix_sha256 == prefixes_now[thought.seq]
        if not good or (run and run[-1].after_seq != thought.seq):
            break
        run.append(thought)
    return {each.seq for each in run}


def with_lenient_binding(parameters: Mapping[str, Any], facts: ModelFacts) -> Mapping[str, Any]:
    """The parameters of a request, which ask the provider to leave misplaced thinking out.

    A second wall behind `sendable`: what hango misjudged costs a block, not the call. It is sent
    with every request to a model that binds thinking, so that it never changes between two calls.
    """
    absent = {"type": "adaptive"} if facts.thinking_by_default else {}
    thinking = parameters.get("thinking") or absent
    takes_it = facts.preserved_thinking and "adaptive" in facts.thinking_modes
    if not takes_it or thinking.get("type") != "adaptive":
        return parameters
    return {**parameters, "thinking": {"block_binding": _LENIENT, **thinking}}
