"""The content of one message: shapes, places, ids, emptiness, media."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.domain.blocks import CALLS, RESULTS, SERVER
from app.domain.validity.block_types import ASSISTANT, BLOCK_TYPES, IN_RESULT, ROLES, SYSTEM, USER
from app.domain.validity.findings import Finding, Path, at_door
from app.domain.validity.media import document_findings, image_findings
from app.domain.validity.shapes import check_object
from app.errors import Fault


def check_blocks(role: Any, content: Any, at: str) -> list[Fault]:
    """What makes this message one that no request could ever hold, whatever stands around it.

    Takes any JSON for `role` and `content`, a text or a list of blocks; `at` is the message's own
    path ("messages[3]"). What the chain repairs in each request is let through.
    """
    return at_door(message_findings(role, content, ()), at)


def message_findings(role: Any, content: Any, path: Path) -> Iterator[Finding]:
    """Everything wrong within one message, what the chain repairs included."""
    if role not in ROLES:
        yield Finding((*path, "role"), "role_unknown", "The role is user, assistant or system.")
        return
    path = (*path, "content")
    if isinstance(content, str):
        yield from text_findings(content, path)
    elif not isinstance(content, list):
        yield Finding(path, "field_invalid", "The content is text or a list of blocks.")
    elif not content:
        yield Finding(path, "content_empty", "Give the message at least one block.")
    else:
        for index, block in enumerate(content):
            if role == SYSTEM or not _is_plain_text(block):
                yield from block_findings(block, role, (*path, index))
        if len(content) > 1:
            yield from _order_findings(content, path)


def text_findings(text: str, path: Path) -> Iterator[Finding]:
    """The provider refuses a text of nothing but whitespace wherever it stands."""
    if not text or text.isspace():
        yield Finding(path, "text_empty", "The text needs a character that is not whitespace.")


def block_findings(block: Any, place: str, path: Path) -> Iterator[Finding]:
    """Everything wrong within one block that stands in `place`."""
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str) or not kind:
        yield Finding(path, "block_type", "A block is an object with a type.")
        return
    known = BLOCK_TYPES.get(kind)
    if place not in (known.places if known else _PLACES_OF_UNKNOWN):
        yield Finding(path, *_misplaced(kind, place))
    elif known:
        yield from check_object(block, known.shape, path)
        yield from _detail_findings(kind, block, place, path)


def _is_plain_text(block: Any) -> bool:
    """Whether it is what most blocks are: nothing is wrong with one wherever blocks stand."""
    if not isinstance(block, dict) or block.get("type") != "text" or len(block) != _PLAIN_FIELDS:
        return False
    text = block.get("text")
    return isinstance(text, str) and bool(text) and not text.isspace()


_PLAIN_FIELDS = 2  # type and text
_PLACES_OF_UNKNOWN = frozenset({USER, ASSISTANT, IN_RESULT})


def _misplaced(kind: str, place: str) -> tuple[str, str]:
    if place == SYSTEM:
        return "system_msg_content", "A system message takes text blocks only."
    if kind == "document" and place == ASSISTANT:
        return "assistant_document", "A document belongs in a user message or a tool result."
    return "block_role", f"A block of this type cannot stand in {_PLACE_NAMES[place]}."


_PLACE_NAMES = {
    USER: "a user message",
    ASSISTANT: "an assistant message",
    IN_RESULT: "a tool result",
}


def _detail_findings(
    kind: str, block: Mapping[str, Any], place: str, path: Path
) -> Iterator[Finding]:
    """What the table of fields cannot say."""
    if kind == "text":
        yield from _text_block_findings(block, place, path)
    elif kind == "image":
        yield from image_findings(block.get("source"), (*path, "source"))
    elif kind == "document":
        yield from document_findings(block.get("source"), (*path, "source"))
        yield from _source_content_findings(block.get("source"), (*path, "source", "content"))
    elif kind == "search_result":
        yield from _nested_findings(block.get("content"), USER, ("text",), (*path, "content"))
    elif kind == "tool_result":
        yield from _result_findings(block, (*path, "content"))


def _text_block_findings(block: Mapping[str, Any], place: str, path: Path) -> Iterator[Finding]:
    text = block.get("text")
    if isinstance(text, str) and (not text or text.isspace()):
        yield from text_findings(text, (*path, "text"))
        if block.get("cache_control"):
            yield Finding(path, "cache_mark_empty_text", "An empty text takes no cache mark.")
    if block.get("citations") and place != ASSISTANT:
        yield Finding(
            (*path, "citations"), "user_citations", "Only the assistant's text has citations."
        )


def _result_findings(result: Mapping[str, Any], path: Path) -> Iterator[Finding]:
    content = result.get("content")
    yield from _nested_findings(content, IN_RESULT, (), path)
    if result.get("is_error") is True and isinstance(content, list):
        for index, block in enumerate(content):
            if isinstance(block, dict) and block.get("type") != "text":
                yield Finding(
                    (*path, index), "tool_error_not_text", "A failed result holds text only."
                )


def _source_content_findings(source: Any, path: Path) -> Iterator[Finding]:
    content = source.get("content") if isinstance(source, dict) else None
    if isinstance(content, str):
        yield from text_findings(content, path)
    yield from _nested_findings(content, USER, ("text", "image"), path)


def _nested_findings(
    content: Any, place: str, types: tuple[str, ...], path: Path
) -> Iterator[Finding]:
    for index, block in enumerate(content if isinstance(content, list) else ()):
        kind = block.get("type") if isinstance(block, dict) else None
        if place != SYSTEM and _is_plain_text(block):
            continue
        if types and kind not in types:
            yield Finding((*path, index), "block_role", f"Only {' and '.join(types)} stand here.")
        else:
            yield from block_findings(block, place, (*path, index))


def _order_findings(content: list[Any], path: Path) -> Iterator[Finding]:
    """What depends on the order of blocks that only the message itself knows."""
    yield from _server_order_findings(content, path)
    kinds = [block.get("type") for block in content if isinstance(block, dict)]
    if "compaction" in kinds and len(content) > 1:
        yield Finding(path, "compaction_place", "A compaction block is a message of its own.")


def _server_order_findings(content: list[Any], path: Path) -> Iterator[Finding]:
    """A server tool's result that stands before its own call."""
    called_at = {call: index for index, call in reversed(list(_server_ids(content, CALLS, "id")))}
    for index, call in _server_ids(content, RESULTS, "tool_use_id") if called_at else ():
        if called_at.get(call, -1) > index:
            yield Finding(
                (*path, index), "server_result_orphan", "Its server_tool_use stands before it."
            )


def _server_ids(
    content: list[Any], types: Mapping[str, str], name: str
) -> Iterator[tuple[int, str]]:
    for index, block in enumerate(content):
        if isinstance(block, dict) and types.get(str(block.get("type"))) == SERVER:
            yield index, str(block.get(name))
