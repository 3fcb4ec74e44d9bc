"""One part of the next request in full: as it will be sent, and as it was before an override."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from app.chain.chain import Contributed
from app.chain.middlewares.context_overrides import Unfiltered
from app.chain.snapshots import Covered
from app.domain.injections import Injected
from app.domain.messages import Block, MessageRef
from app.domain.parts import AnyPart, parse_part
from app.domain.requests import SystemBlock
from app.domain.snapshots import PartContent, Snapshot
from app.errors import NotFound
from app.provider.wire import blocks_of
from app.services.context import Assembled, assemble, described, find_covered
from app.store.transaction import Transaction

LARGEST_SHOWN_MEDIA_CHARACTERS = 4096


class View(NamedTuple):
    """How a part is shown: with its media data, and before overrides rather than after."""

    media: bool = False
    before: bool = False


AS_SENT = View()


class _Shown(NamedTuple):
    """A part's text and content after overrides, and before where that is something else."""

    text: str
    after: object
    text_before: str = ""
    before: object = None


def part_in_full(
    tx: Transaction,
    session_id: UUID,
    part_id: str,
    view: View = AS_SENT,
    injected: Sequence[Injected] | None = None,
) -> PartContent:
    """The whole content of one part, as the provider would get it, or as it was before.

    Of a part that is left out: what would be sent without the override.

    Raises:
        BadPart: `part_id` is not a part id.
        NotFound: the next request has no such part, or the session is not the principal's.
    """
    wanted = parse_part(part_id)
    assembled = assemble(tx, session_id, injected=injected)
    find_covered(tx, assembled)
    part = _listed(described(assembled), wanted)
    if part.kind == "system" and not _contributed(assembled, part):
        raise NotFound("This injection brought no text.")
    shown = _shown(tx, assembled, part)
    text, content = shown.text, shown.after
    if view.before and shown.before is not None:
        text, content = shown.text_before, shown.before
    kept, omitted = (content, 0) if view.media else without_media(content)
    return PartContent(
        session_id=str(session_id),
        part=part,
        content=kept,
        text=text,
        before=without_media(shown.before)[0],
        omitted_characters=omitted,
    )


def _listed(whole: Snapshot, wanted: str) -> AnyPart:
    for group in (whole.groups.system, whole.groups.tools, whole.groups.messages):
        for part in group.parts:
            if part.id == wanted and not part.stale:
                return part
    raise NotFound("The next request has no part of this id; its context lists those it has.")


def _shown(tx: Transaction, assembled: Assembled, part: AnyPart) -> _Shown:
    if part.kind == "system":
        return _system(assembled, part)
    if part.kind == "tool":
        tools = assembled.state.get(Contributed).tools
        definition = next(each.definition for each in tools if each.part == part.id)
        return _Shown(str(definition.get("description") or ""), dict(definition))
    return _message(tx, assembled, part)


def _system(assembled: Assembled, part: AnyPart) -> _Shown:
    (original,) = _contributed(assembled, part)
    sent = next((b for b in assembled.request.system if b.part == part.id), original)
    after = {"type": "text", "text": sent.text}
    written = original.source or original.text
    if sent.text == original.text:
        return _Shown(written, after)
    before = {"type": "text", "text": original.text}
    return _Shown(sent.source or sent.text, after, written, before)


def _contributed(assembled: Assembled, part: AnyPart) -> list[SystemBlock]:
    return [each for each in assembled.state.get(Contributed).system if each.part == part.id][:1]


def _message(tx: Transaction, assembled: Assembled, part: AnyPart) -> _Shown:
    original = _original(assembled, part)
    sent = next((r for r in assembled.request.messages if r.part == part.id), original)
    stored = tx.messages.contents(assembled.state.session_id, [original.seq])
    blocks = blocks_of(sent, stored)
    shown = _Shown(_text(blocks), _turn(sent, blocks))
    if sent is original:
        return shown
    unchanged = blocks_of(original, stored)
    return shown._replace(text_before=_text(unchanged), before=_turn(original, unchanged))


def _original(assembled: Assembled, part: AnyPart) -> MessageRef:
    """The message before any override, wherever it stands now."""
    unfiltered = assembled.state.find(Unfiltered)
    covered = assembled.state.find(Covered)
    places = (
        unfiltered.messages if unfiltered else [],
        assembled.request.messages,
        covered.messages if covered else [],
    )
    return next(ref for refs in places for ref in refs if ref.part == part.id)


def _turn(ref: MessageRef, blocks: list[Block]) -> dict[str, Any]:
    return {"role": ref.role, "content": blocks}


def without_media(content: Any) -> tuple[Any, int]:
    """The content with large base64 data left out, and how many characters of it there were."""
    omitted = 0

    def shown(value: Any) -> Any:
        nonlocal omitted
        if isinstance(value, list):
            return [shown(each) for each in value]
        if not isinstance(value, dict):
            return value
        data = value.get("data")
        if value.get("type") == "base64" and isinstance(data, str):
            if len(data) > LARGEST_SHOWN_MEDIA_CHARACTERS:
                omitted += len(data)
                return value | {"data": ""}
            return value
        return {key: shown(each) for key, each in value.items()}

    return shown(content), omitted


def _text(blocks: list[Block]) -> str:
    return "\n\n".join(_texts(blocks))


def _texts(blocks: list[Block]) -> Iterator[str]:
    for block in blocks:
        kind = block.get("type")
        if kind == "text":
            yield str(block.get("text", ""))
        elif kind == "thinking":
            yield str(block.get("thinking", ""))
        elif kind == "tool_use":
            yield json.dumps(block.get("input"), indent=2, ensure_ascii=False)
        elif kind == "tool_result":
            content = block.get("content")
            yield from [content] if isinstance(content, str) else _texts(content or [])
