"""Tool definitions: names, input schemas, and what a set of them must keep to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.domain.validity.findings import Finding, Path, at_door
from app.domain.validity.shapes import (
    BOOLEAN,
    CACHE_CONTROL,
    LIST,
    OBJECT,
    TEXT,
    Kind,
    Shape,
    check_object,
    nullable,
    one_of,
)
from app.domain.validity.strict_schemas import strict_findings
from app.errors import Fault

MAX_NAME_CHARACTERS = 128  # the documentation says 64; the API takes this many

_NAME = re.compile(r"[a-zA-Z0-9_-]+", re.ASCII)
_PROVIDED = re.compile(r"[a-z][a-z0-9_]*_20\d{6}", re.ASCII)  # bash_20250124, web_search_20260318


def is_tool_name(name: Any) -> bool:
    """Whether the provider takes `name` as a tool's."""
    return (
        isinstance(name, str) and len(name) <= MAX_NAME_CHARACTERS and bool(_NAME.fullmatch(name))
    )


_TOOL_NAME = Kind(
    f"1 to {MAX_NAME_CHARACTERS} letters, digits, _ and -", is_tool_name, "tool_name_format"
)
_CUSTOM = Shape(
    required={"name": _TOOL_NAME, "input_schema": OBJECT},
    optional={
        "type": nullable(one_of("custom")),
        "description": TEXT,
        "cache_control": CACHE_CONTROL,
        "strict": BOOLEAN,
        "defer_loading": BOOLEAN,
        "eager_input_streaming": nullable(BOOLEAN),
        "input_examples": LIST,
        "allowed_callers": LIST,
    },
)
_PROVIDED_TOOL = Shape(
    required={"name": _TOOL_NAME}, optional={"cache_control": CACHE_CONTROL}, is_open=True
)
_TOOLSET = Shape(
    optional={"cache_control": CACHE_CONTROL},
    refused=dict.fromkeys(("name", "strict", "input_examples"), "field_unknown"),
    is_open=True,
)


def check_tool(definition: Any, at: str) -> list[Fault]:
    """What keeps the provider from taking this tool definition; `at` is its path."""
    return at_door(tool_findings(definition, ()), at)


def check_tools(definitions: Sequence[Any], at: str) -> list[Fault]:
    """What keeps the provider from taking these definitions together."""
    return at_door(toolset_findings(definitions, ()), at)


def toolset_findings(definitions: Sequence[Any], path: Path) -> Iterator[Finding]:
    """Each definition, and names that are not unique, of whatever kind the tools are."""
    seen: set[str] = set()
    for index, definition in enumerate(definitions):
        yield from tool_findings(definition, (*path, index))
        name = definition.get("name") if isinstance(definition, dict) else None
        if isinstance(name, str):
            if name in seen:
                yield Finding((*path, index, "name"), "tool_name_twice", "Another tool has it.")
            seen.add(name)
    if definitions and all(_is_deferred(definition) for definition in definitions):
        yield Finding(path, "tools_all_deferred", "At least one tool is not deferred.")


def tool_findings(definition: Any, path: Path) -> Iterator[Finding]:
    """Everything wrong within one definition."""
    kind = definition.get("type") if isinstance(definition, dict) else None
    if kind is None or kind == "custom":
        yield from check_object(definition, _CUSTOM, path)
        if isinstance(definition, dict):
            yield from _schema_findings(definition, (*path, "input_schema"))
    elif kind == "mcp_toolset" or (isinstance(kind, str) and "_toolset_" in kind):
        yield from check_object(definition, _TOOLSET, path)
    elif isinstance(kind, str) and _PROVIDED.fullmatch(kind):
        yield from check_object(definition, _PROVIDED_TOOL, path)
    else:
        yield Finding((*path, "type"), "tool_type", "A custom tool has no type, or custom.")


def _schema_findings(definition: Mapping[str, Any], path: Path) -> Iterator[Finding]:
    schema = definition.get("input_schema")
    if not isinstance(schema, dict):
        return
    if schema.get("type") != "object":
        yield Finding((*path, "type"), "tool_schema_type", "The schema's type is object.")
    for name in ("oneOf", "allOf", "anyOf"):
        if name in schema:
            yield Finding(
                (*path, name), "tool_schema_top", "Not at the top: wrap it in a property."
            )
    if definition.get("strict") is True:
        yield from strict_findings(schema, path)


def _is_deferred(definition: Any) -> bool:
    return isinstance(definition, dict) and definition.get("defer_loading") is True
