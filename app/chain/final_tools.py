"""The final word on tools, as one pure function: Guard counts what ToolAllowlist will send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.chain.skills_in_use import NOT_NARROWED, Narrowing
from app.domain.overrides import OverrideSet
from app.domain.requests import ModelRequest, Tool


def with_final_tools(request: ModelRequest, overrides: OverrideSet) -> ModelRequest:
    """Leave out excluded tools, those that the skills in use do not leave, and second tools of
    one name; keep `tool_choice` possible.

    The agent's own tools stand first, so that they win over a built-in of the same name.
    """
    narrowing = request.state.find(Narrowing) or NOT_NARROWED
    tools: dict[str, Tool] = {}
    for tool in request.tools:
        if not overrides.excludes(tool.part) and narrowing.leaves(tool.name):
            tools.setdefault(tool.name, tool)
    final = _findable(tuple(tools.values()))
    return replace(request, tools=final, tool_choice=_possible(request.tool_choice, final))


def _findable(tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
    """The tools, of which not all may wait to be found (tools_all_deferred)."""
    if not tools or not all(tool.definition.get("defer_loading") for tool in tools):
        return tools
    return tuple(
        replace(tool, definition={k: v for k, v in tool.definition.items() if k != "defer_loading"})
        for tool in tools
    )


def _possible(choice: Mapping[str, Any] | None, tools: Sequence[Tool]) -> Mapping[str, Any] | None:
    """The choice that can be sent with these tools.

    Messages API: `tool_choice` needs tools, and a forced tool has to be among them.
    """
    if choice is None or not tools:
        return None
    if choice.get("type") == "tool" and all(tool.name != choice.get("name") for tool in tools):
        return {"type": "auto"}
    return choice
