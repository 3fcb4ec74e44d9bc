"""What an MCP server says about its tools, made into what a provider takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from app.domain.jsontext import dumps
from app.domain.outside import (
    LeftOut,
    ListedTool,
    McpServer,
    definition_sha256,
    names_to_send,
)
from app.domain.text import clean, clean_json
from app.domain.validity import check_tool

MAX_TOOLS = 256  # of one server
MAX_DEFINITION_BYTES = 32_768
WRAPPED = "input"  # the property that holds a schema which may not stand at the top

_NOT_AT_THE_TOP = ("oneOf", "allOf", "anyOf")
_SHARED = ("$defs", "definitions")  # references to them begin at the top, so there they stay
TOO_LARGE = f"Its definition is longer than {MAX_DEFINITION_BYTES} bytes."
TOO_MANY = f"The server has more than {MAX_TOOLS} tools."
TWICE = "The server has another tool of this name."


class ToldTool(msgspec.Struct, frozen=True):
    """One tool in a server's own words."""

    name: str
    description: str
    input_schema: Any


class Changes(msgspec.Struct, frozen=True):
    """How a listing differs from the one before, by the server's names."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


def listing(
    server: str, told: Sequence[ToldTool]
) -> tuple[tuple[ListedTool, ...], tuple[LeftOut, ...]]:
    """The server's tools as they can be sent, by name, and those that cannot.

    By name, so that a server which lists them in another order spoils no cache.
    """
    unique: dict[str, ToldTool] = {}
    left_out: list[LeftOut] = []
    for each in told:
        name = clean(each.name)
        if name in unique:
            left_out.append(LeftOut(name, TWICE))
        elif len(unique) == MAX_TOOLS:
            left_out.append(LeftOut(name, TOO_MANY))
        else:
            unique[name] = each
    tools: list[ListedTool] = []
    for sent_as, (name, each) in zip(
        names_to_send(server, list(unique)), unique.items(), strict=True
    ):
        tool = _listed(name, sent_as, each)
        if reason := _refusal(tool):
            left_out.append(LeftOut(name, reason))
        else:
            tools.append(tool)
    tools.sort(key=lambda tool: tool.name)
    return tuple(tools), tuple(left_out[:MAX_TOOLS])


def changes(before: McpServer | None, tools: Sequence[ListedTool]) -> Changes:
    """What a new listing of a server has in the place of the stored one."""
    old = {each.name: each.sha256 for each in before.tools} if before else {}
    new = {each.name: each.sha256 for each in tools}
    return Changes(
        added=tuple(name for name in new if name not in old),
        changed=tuple(name for name in new if name in old and old[name] != new[name]),
        removed=tuple(name for name in old if name not in new),
    )


def sendable_schema(schema: Any) -> tuple[dict[str, Any], bool]:
    """The schema as a provider takes it, and whether it had to become a property of another.

    Messages API: the top is an object, and has none of oneOf, allOf and anyOf.
    """
    given = dict(schema) if isinstance(schema, Mapping) else {}
    kind = given.get("type", "object")
    if kind == "object" and not any(name in given for name in _NOT_AT_THE_TOP):
        return {**given, "type": "object"}, False
    shared = {name: given.pop(name) for name in _SHARED if name in given}
    given.pop("$schema", None)
    wrapped = {
        "type": "object",
        "properties": {WRAPPED: given},
        "required": [WRAPPED],
        "additionalProperties": False,
        **shared,
    }
    return wrapped, True


def _listed(name: str, sent_as: str, told: ToldTool) -> ListedTool:
    schema, wrapped = sendable_schema(clean_json(told.input_schema))
    description = clean(told.description)
    return ListedTool(
        name=name,
        sent_as=sent_as,
        description=description,
        input_schema=schema,
        sha256=definition_sha256(description, clean_json(told.input_schema)),
        wrapped=wrapped,
    )


def _refusal(tool: ListedTool) -> str | None:
    definition = {
        "name": tool.sent_as,
        "description": tool.description,
        "input_schema": tool.input_schema,
    }
    if len(dumps(definition).encode()) > MAX_DEFINITION_BYTES:
        return TOO_LARGE
    faults = check_tool(definition, "")
    return faults[0].detail if faults else None
