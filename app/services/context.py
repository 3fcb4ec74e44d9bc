"""Inspect: what the next model call of a session would send. Writes nothing, calls nobody."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from app.chain.capture import capture
from app.chain.chain import Contributed
from app.chain.snapshots import snapshot
from app.chain.stack import default_chain
from app.domain.messages import Block, MessageRef
from app.domain.overrides import NO_OVERRIDES, OverrideSet
from app.domain.parts import Part, parse_part
from app.domain.ports import Estimator, History
from app.domain.requests import ModelRequest, RunState
from app.domain.snapshots import Page, PartContent, Snapshot
from app.errors import NotFound
from app.provider.wire import blocks_of
from app.store.transaction import Transaction
from app.tokens.estimator import estimator_for

LARGEST_SHOWN_MEDIA_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Assembled:
    """The next request of a session, as the chain captured it."""

    request: ModelRequest
    state: RunState
    estimator: Estimator


class NoSavedOverrides:
    """The source of a session without any."""

    def for_run(self, agent_id: UUID, session_id: UUID) -> OverrideSet:
        """None are saved."""
        del agent_id, session_id
        return NO_OVERRIDES


def assemble(tx: Transaction, session_id: UUID) -> Assembled:
    """Build the next request through the real chain, and stop before anything is called.

    Raises:
        NotFound: the session is not the principal's to see.
    """
    session = tx.sessions.get(session_id)
    agent = tx.agents.used_by(session)
    estimator = estimator_for(agent.model)
    history = tx.messages.history(session_id, counted_by=estimator.id)
    _count_missing(tx, session_id, history, estimator)
    state = RunState(agent, session_id, history)
    chain = default_chain(tx.sources, NoSavedOverrides(), estimator)
    chain.before_run(state)
    return Assembled(chain.model_call(state, capture), state, estimator)


def inspect(tx: Transaction, session_id: UUID, *, transparent: bool = True) -> Snapshot:
    """The snapshot of the session's next call.

    Raises:
        NotFound: the session is not the principal's to see.
    """
    assembled = assemble(tx, session_id)
    return snapshot(assembled.request, assembled.estimator, transparent=transparent)


def page_of_messages(whole: Snapshot, limit: int | None, before: int | None) -> Snapshot:
    """Keep the newest `limit` parts of the messages that stand before seq `before`.

    Totals stay over the whole. Parts without a seq (the summary, synthetic messages) belong to
    the page of their neighbour.
    """
    if limit is None and before is None:
        return whole
    group = whole.groups.messages
    end = _index_of(group.parts, before) if before is not None else len(group.parts)
    start = max(0, end - limit) if limit is not None else 0
    first = next((seq for part in group.parts[start:end] if (seq := _seq(part))), None)
    group.page = Page(before=first if start > 0 else None, total=len(group.parts))
    group.parts = group.parts[start:end]
    return whole


def part_in_full(
    tx: Transaction, session_id: UUID, part_id: str, *, media: bool = False
) -> PartContent:
    """The whole content of one part, as the provider would get it.

    Raises:
        BadPart: `part_id` is not a part id.
        NotFound: the next request has no such part, or the session is not the principal's.
    """
    wanted = parse_part(part_id)
    assembled = assemble(tx, session_id)
    whole = snapshot(assembled.request, assembled.estimator)
    part = next((each for each in _parts(whole) if each.id == wanted), None)
    if part is None:
        raise NotFound("The next request has no part of this id; its context lists those it has.")
    if part.kind == "system":
        return _system_in_full(assembled, part)
    if part.kind == "tool":
        return _tool_in_full(assembled, part)
    return _message_in_full(tx, assembled, part, media=media)


def _count_missing(
    tx: Transaction, session_id: UUID, history: History, estimator: Estimator
) -> None:
    """Count what was not counted by this estimator yet. Kept for this request alone."""
    cold = [message for message in history.messages if message.tokens is None]
    if cold:
        contents = tx.messages.contents(session_id, [message.seq for message in cold])
        for message in cold:
            blocks = orjson.loads(contents[message.seq])
            message.tokens = estimator.message(message.role, blocks).tokens
    summary = history.checkpoint.summary if history.checkpoint else None
    if summary and summary.made and summary.tokens is None:
        summary.tokens = estimator.message(summary.role, summary.made.blocks).tokens


def _parts(whole: Snapshot) -> Iterator[Part]:
    for group in (whole.groups.system, whole.groups.tools, whole.groups.messages):
        yield from group.parts


def _seq(part: Part) -> int | None:
    return int(part.id[8:]) if part.id.startswith("message:") else None


def _index_of(parts: list[Part], before: int) -> int:
    """Where the first message with a seq of `before` or more stands."""
    return next(
        (i for i, part in enumerate(parts) if (seq := _seq(part)) is not None and seq >= before),
        len(parts),
    )


def _system_in_full(assembled: Assembled, part: Part) -> PartContent:
    sent = {block.part: block for block in assembled.request.system}
    contributed = assembled.state.get(Contributed).system
    original = next(block for block in contributed if block.part == part.id)
    block = sent.get(original.part, original)
    replaced = block.text != original.text
    return PartContent(
        session_id=str(assembled.state.session_id),
        part=part,
        content={"type": "text", "text": block.text},
        text=block.text if replaced else original.source or original.text,
        before={"type": "text", "text": original.text} if replaced else None,
        omitted_bytes=0,
    )


def _tool_in_full(assembled: Assembled, part: Part) -> PartContent:
    tools = assembled.state.get(Contributed).tools
    tool = next(each for each in tools if each.part == part.id)
    return PartContent(
        session_id=str(assembled.state.session_id),
        part=part,
        content=tool.definition,
        text=str(tool.definition.get("description") or ""),
        before=None,
        omitted_bytes=0,
    )


def _message_in_full(
    tx: Transaction, assembled: Assembled, part: Part, *, media: bool
) -> PartContent:
    session_id = assembled.state.session_id
    ref = _ref_of(assembled, part)
    contents = tx.messages.contents(session_id, [ref.seq]) if not ref.made else {}
    blocks = blocks_of(ref, contents)
    shown, omitted = (blocks, 0) if media else without_media(blocks)
    return PartContent(
        session_id=str(session_id),
        part=part,
        content={"role": ref.role, "content": shown},
        text="\n\n".join(_texts(blocks)),
        before=None,
        omitted_bytes=omitted,
    )


def _ref_of(assembled: Assembled, part: Part) -> MessageRef:
    return next(each for each in assembled.request.messages if each.part == part.id)


def without_media(blocks: list[Block]) -> tuple[list[Block], int]:
    """The blocks with large base64 data left out, and how many bytes of it there were."""
    omitted = 0

    def shown(value: Any) -> Any:
        nonlocal omitted
        if isinstance(value, list):
            return [shown(each) for each in value]
        if not isinstance(value, dict):
            return value
        data = value.get("data")
        if value.get("type") == "base64" and isinstance(data, str):
            if len(data) > LARGEST_SHOWN_MEDIA_BYTES:
                omitted += len(data)
                return value | {"data": ""}
            return value
        return {key: shown(each) for key, each in value.items()}

    return [shown(block) for block in blocks], omitted


def _texts(blocks: list[Block]) -> Iterator[str]:
    for block in blocks:
        kind = block.get("type")
        if kind == "text":
            yield str(block.get("text", ""))
        elif kind == "thinking":
            yield str(block.get("thinking", ""))
        elif kind == "tool_use":
            yield orjson.dumps(block.get("input"), option=orjson.OPT_INDENT_2).decode()
        elif kind == "tool_result":
            content = block.get("content")
            yield from [content] if isinstance(content, str) else _texts(content or [])
