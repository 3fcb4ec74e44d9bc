"""Tool definitions of a source as a provider takes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.domain.validity import check_tool
from app.importers.names import ToolNames
from app.importers.report import Tally, kind

_CUSTOM = (
    "type",
    "name",
    "description",
    "input_schema",
    "strict",
    "input_examples",
    "defer_loading",
    "allowed_callers",
    "eager_input_streaming",
)
_CHOICE = ("type", "name", "disable_parallel_tool_use")
_TOP_LEVEL_CHOICES = ("oneOf", "allOf", "anyOf")  # refused at the top of a schema


def tidy_tools(tools: Iterable[Any], names: ToolNames, tally: Tally) -> list[dict[str, Any]]:
    """The definitions that can be sent, each name once, without cache marks."""
    kept: dict[str, dict[str, Any]] = {}
    for tool in tools:
        if not isinstance(tool, dict):
            tally.drop("tool_not_an_object")
            continue
        if tool.get("type") == "mcp_toolset":  # means nothing without its server and its secret
            tally.drop("mcp_toolset")
            continue
        if not is_custom(tool) and not _has_type(tool):
            tally.drop("tool_without_type")
            continue
        if "cache_control" in tool:
            tally.repair("cache_marks_removed")
        tidy = _custom(tool, names, tally) if is_custom(tool) else _provided(tool, tally)
        faults = check_tool(tidy, "tool")
        if faults:
            tally.drop(f"tool_refused:{faults[0].code}")
        elif kept.setdefault(str(tidy.get("name") or tidy["type"]), tidy) is not tidy:
            tally.drop("tool_defined_twice")
    return _with_one_loaded(list(kept.values()), tally)


def _with_one_loaded(tools: list[dict[str, Any]], tally: Tally) -> list[dict[str, Any]]:
    """Not every tool may wait to be loaded: where all would, none does."""
    if not tools or not all(tool.get("defer_loading") is True for tool in tools):
        return tools
    tally.repair("tools_no_longer_deferred", len(tools))
    return [{k: v for k, v in tool.items() if k != "defer_loading"} for tool in tools]


def is_custom(tool: Mapping[str, Any]) -> bool:
    """Whether the caller defines it, rather than the provider by a dated type."""
    return tool.get("type") in (None, "custom", "function") or "input_schema" in tool


def _has_type(tool: Mapping[str, Any]) -> bool:
    return isinstance(tool["type"], str) and isinstance(tool.get("name", ""), str)


def tidy_choice(
    choice: Mapping[str, Any] | None,
    names: ToolNames,
    tools: Sequence[Mapping[str, Any]],
    tally: Tally,
) -> dict[str, Any] | None:
    """The choice, if it can be sent: there are tools, and a forced one is among them."""
    if not choice or choice.get("type") not in ("auto", "any", "tool", "none"):
        return None
    if not tools:
        tally.repair("tool_choice_without_tools")
        return None
    tidy = {key: choice[key] for key in _CHOICE if key in choice}
    if tidy["type"] == "tool":
        tidy["name"] = names.of(choice.get("name"))
        if all(tool.get("name") != tidy["name"] for tool in tools):
            tally.repair("tool_choice_of_a_missing_tool")
            return None
    return tidy


def _custom(tool: dict[str, Any], names: ToolNames, tally: Tally) -> dict[str, Any]:
    tidy = {key: value for key, value in tool.items() if key in _CUSTOM and value is not None}
    tally.drop("unknown_tool_fields", len(tool.keys() - tidy.keys() - {"cache_control"}))
    tidy["name"] = names.of(tool.get("name"))
    tidy["input_schema"] = _schema(tool.get("input_schema"), tally)
    if tidy.get("type") != "custom":
        tidy.pop("type", None)
    if tidy.get("strict") and check_tool(tidy, "tool"):
        tally.repair("tool_no_longer_strict")
        del tidy["strict"]
    if not isinstance(tidy.get("description", ""), str):
        del tidy["description"]
    return tidy


def _provided(tool: dict[str, Any], tally: Tally) -> dict[str, Any]:
    tally.keep(f"tool:{kind(tool.get('type'))}")
    return {key: value for key, value in tool.items() if key != "cache_control"}


def _schema(schema: Any, tally: Tally) -> dict[str, Any]:
    if not isinstance(schema, dict):
        tally.repair("tool_schema_added")
        return {"type": "object", "properties": {}}
    tidy = {key: value for key, value in schema.items() if key not in _TOP_LEVEL_CHOICES}
    if len(tidy) < len(schema) or tidy.get("type") != "object":
        tally.repair("tool_schema_made_object")
        tidy["type"] = "object"
    return tidy
