"""The content blocks of the Messages API as a table: their fields, and where each may stand.

As of API version 2026-10-21, Anthropic Python SDK 2.14.0. Blocks of other types are let
through, since the API adds types without a new version.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.domain.validity.shapes import (
    ANYTHING,
    BOOLEAN,
    CACHE_CONTROL,
    LIST,
    OBJECT,
    TEXT,
    TEXT_OR_LIST,
    Kind,
    Shape,
    nullable,
    one_of,
)

USER, ASSISTANT, SYSTEM = "user", "assistant", "system"
ROLES = (USER, ASSISTANT, SYSTEM)
IN_RESULT = "in a tool result"

MAX_ID_CHARACTERS = 256  # the provider states no limit; its own ids have about 30

_ID = re.compile(r"[a-zA-Z0-9_-]+", re.ASCII)
_SERVER_ID = re.compile(r"srvtoolu_[a-zA-Z0-9_]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class BlockType:
    """One type of block: its fields, and where it may stand."""

    shape: Shape
    places: frozenset[str] = field(default_factory=frozenset)


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MAX_ID_CHARACTERS and bool(_ID.fullmatch(value))


def _is_server_id(value: Any) -> bool:
    return _is_id(value) and bool(_SERVER_ID.fullmatch(value))


_CALL_ID = Kind("letters, digits, _ and -", _is_id, "tool_use_id_format")
_SERVER_CALL_ID = Kind("srvtoolu_ and letters, digits and _", _is_server_id, "tool_use_id_format")
_INPUT = Kind("an object, also when there are no arguments", OBJECT.holds, "tool_input_not_object")
_SIGNATURE = Kind(
    "the signature that the provider gave",
    lambda value: isinstance(value, str) and value != "",
    "thinking_signature",
)
_SERVER_TOOL = one_of(
    "web_search",
    "web_fetch",
    "code_execution",
    "bash_code_execution",
    "text_editor_code_execution",
    "tool_search_tool_regex",
    "tool_search_tool_bm25",
    "advisor",
)
_CACHE = {"cache_control": CACHE_CONTROL}
_NO_CACHE = {"cache_control": "cache_mark_thinking"}


def _type(
    *places: str,
    required: Mapping[str, Kind] | None = None,
    optional: Mapping[str, Kind] | None = None,
    refused: Mapping[str, str] | None = None,
    is_open: bool = False,
) -> BlockType:
    shape = Shape(required or {}, optional or {}, refused or {}, is_open)
    return BlockType(shape, frozenset(places))


def _server_result(**optional: Kind) -> BlockType:
    return _type(
        ASSISTANT,
        required={"tool_use_id": _SERVER_CALL_ID, "content": ANYTHING},
        optional={**_CACHE, **optional},
    )


BLOCK_TYPES: Mapping[str, BlockType] = {
    "text": _type(
        USER,
        ASSISTANT,
        SYSTEM,
        IN_RESULT,
        required={"text": TEXT},
        optional={**_CACHE, "citations": nullable(LIST)},
    ),
    "image": _type(
        USER,
        IN_RESULT,
        required={"source": OBJECT},
        optional={**_CACHE, "transformations": nullable(OBJECT)},
    ),
    "document": _type(
        USER,
        IN_RESULT,
        required={"source": OBJECT},
        optional={
            **_CACHE,
            "title": nullable(TEXT),
            "context": nullable(TEXT),
            "citations": nullable(OBJECT),
        },
    ),
    "search_result": _type(
        USER,
        IN_RESULT,
        required={"source": TEXT, "title": TEXT, "content": LIST},
        optional={**_CACHE, "citations": OBJECT},
    ),
    "tool_reference": _type(IN_RESULT, required={"tool_name": TEXT}, optional=_CACHE),
    "browser_state": _type(
        IN_RESULT, required={"tabs": LIST}, optional={**_CACHE, "state_changes": nullable(LIST)}
    ),
    "container_upload": _type(USER, required={"file_id": TEXT}, optional=_CACHE),
    "thinking": _type(
        ASSISTANT, required={"thinking": TEXT, "signature": _SIGNATURE}, refused=_NO_CACHE
    ),
    "redacted_thinking": _type(ASSISTANT, required={"data": TEXT}, refused=_NO_CACHE),
    "tool_use": _type(
        ASSISTANT,
        required={"id": _CALL_ID, "name": TEXT, "input": _INPUT},
        optional={**_CACHE, "caller": OBJECT, "toolset_name": nullable(TEXT)},
    ),
    "tool_result": _type(
        USER,
        required={"tool_use_id": _CALL_ID},
        optional={
            **_CACHE,
            "content": TEXT_OR_LIST,
            "is_error": BOOLEAN,
            "toolset_name": nullable(TEXT),
        },
    ),
    "server_tool_use": _type(
        ASSISTANT,
        required={"id": _SERVER_CALL_ID, "name": _SERVER_TOOL, "input": _INPUT},
        optional={**_CACHE, "caller": OBJECT},
    ),
    "web_search_tool_result": _server_result(caller=OBJECT),
    "web_fetch_tool_result": _server_result(caller=OBJECT),
    "code_execution_tool_result": _server_result(),
    "bash_code_execution_tool_result": _server_result(),
    "text_editor_code_execution_tool_result": _server_result(),
    "tool_search_tool_result": _server_result(),
    "advisor_tool_result": _server_result(),
    "mcp_tool_use": _type(
        ASSISTANT,
        required={"id": _CALL_ID, "name": TEXT, "server_name": TEXT, "input": _INPUT},
        optional=_CACHE,
    ),
    "mcp_tool_result": _type(
        ASSISTANT,
        required={"tool_use_id": _CALL_ID},
        optional={**_CACHE, "content": TEXT_OR_LIST, "is_error": BOOLEAN},
    ),
    "mcp_tool_listing": _type(ASSISTANT, is_open=True),
    "fallback": _type(ASSISTANT, is_open=True),
    "compaction": _type(
        ASSISTANT,
        optional={
            **_CACHE,
            "content": nullable(TEXT),
            "encrypted_content": nullable(TEXT),
            "signature": nullable(TEXT),
            "tool_changes": nullable(LIST),
        },
    ),
    "tool_addition": _type(SYSTEM, is_open=True),
    "tool_removal": _type(SYSTEM, is_open=True),
}
