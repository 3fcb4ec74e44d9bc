"""The texts and tool definitions that middlewares contribute, as files beside this one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from app.domain.agents import Agent
from app.domain.parts import system_part, tool_part
from app.domain.requests import SystemBlock, Tool
from app.domain.tools import ToolHandler

HandlerOf = Callable[[Mapping[str, Any]], "ToolHandler | None"]
"""What carries out the tool of this definition; None: nobody here."""


@cache
def text_of(name: str) -> str:
    """The text of `<name>.md`, without the newline at its end."""
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").rstrip("\n")


@cache
def definitions_of(name: str) -> tuple[dict[str, Any], ...]:
    """The tool definitions of `<name>.tools.json`, as they are sent."""
    text = files(__name__).joinpath(f"{name}.tools.json").read_text(encoding="utf-8")
    return tuple(json.loads(text))


def contributed_block(agent: Agent, name: str, **values: str) -> Sequence[SystemBlock]:
    """The block of the middleware `name`, unless the agent has it off or none of its tools."""
    if not agent.uses(name) or not contributed_tools(agent, name):
        return ()
    text = Template(text_of(name)).substitute(values) if values else text_of(name)
    return (SystemBlock(system_part(name), text, name, f"built-in {name} prompt"),)


def contributed_tools(
    agent: Agent, name: str, handler_of: HandlerOf = lambda _: None
) -> Sequence[Tool]:
    """Those tools of the middleware `name` that the agent allows, each with its handler."""
    if not agent.uses(name):
        return ()
    origin = f"built-in {name} tool"
    return [
        Tool(tool_part(each["name"]), each["name"], each, name, origin, handler=handler_of(each))
        for each in definitions_of(name)
        if agent.allows(each["name"])
    ]
