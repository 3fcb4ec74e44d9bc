"""What depends on the model: prefill, forced tools, thinking, system messages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from app.domain.blocks import THINKING
from app.domain.catalogue import ModelFacts
from app.domain.validity.findings import Finding, Path
from app.domain.validity.shapes import (
    BOOLEAN,
    OBJECT,
    TEXT,
    Kind,
    Shape,
    check_object,
    is_integer,
    nullable,
    one_of,
)
from app.domain.validity.turns import Turn, all_blocks, joined

BINDING_BETA = "thinking-binding-controls-2026-08-01"
MIN_THINKING_TOKENS = 1024

_PARALLEL = {"disable_parallel_tool_use": BOOLEAN}
_CHOICES: Mapping[str, Shape] = {
    "auto": Shape(optional=_PARALLEL),
    "any": Shape(optional=_PARALLEL),
    "tool": Shape(required={"name": TEXT}, optional=_PARALLEL),
    "none": Shape(),
}
_BUDGET = Kind(
    f"at least {MIN_THINKING_TOKENS}",
    lambda value: is_integer(value) and value >= MIN_THINKING_TOKENS,
    "thinking_budget",
)
_SHOWN = {
    "display": nullable(one_of("summarized", "omitted", "updates")),
    "block_binding": nullable(OBJECT),
}
_THINKING: Mapping[str, Shape] = {
    "adaptive": Shape(optional=_SHOWN),
    "enabled": Shape(required={"budget_tokens": _BUDGET}, optional=_SHOWN),
    "between_tools": Shape(),
    "disabled": Shape(),
}


def tool_choice_findings(body: Mapping[str, Any], facts: ModelFacts) -> Iterator[Finding]:
    """A choice without tools, of a tool that is not there, or of a kind the model refuses."""
    choice = body.get("tool_choice")
    if not isinstance(choice, dict):
        return
    path: Path = ("tool_choice",)
    kind = choice.get("type")
    if not isinstance(kind, str) or kind not in _CHOICES:
        yield Finding((*path, "type"), "field_invalid", f"It is one of {', '.join(_CHOICES)}.")
        return
    yield from check_object(choice, _CHOICES[kind], path)
    if not body.get("tools"):
        yield Finding(path, "tool_choice_no_tools", "Leave it out where there are no tools.")
    elif kind == "tool" and _is_missing(choice.get("name"), body):
        yield Finding((*path, "name"), "tool_choice_missing_tool", "The tool is not sent.")
    if kind in ("any", "tool") and not facts.forced_tools:
        yield Finding(path, "tool_choice_forced", "This model cannot be forced to use a tool.")


def _is_missing(name: Any, body: Mapping[str, Any]) -> bool:
    return isinstance(name, str) and name not in tool_names(body)


def tool_names(body: Mapping[str, Any]) -> set[str]:
    """The names of the tools that are sent."""
    tools = body.get("tools")
    return {
        tool["name"]
        for tool in (tools if isinstance(tools, list) else ())
        if isinstance(tool, dict) and isinstance(tool.get("name"), str)
    }


def betas_for(body: Mapping[str, Any]) -> tuple[str, ...]:
    """The values of the anthropic-beta header that this body, if hango made it, has to go with."""
    thinking = body.get("thinking") or {}
    return (BINDING_BETA,) if "block_binding" in thinking else ()


def thinking_findings(
    body: Mapping[str, Any], facts: ModelFacts, betas: Collection[str]
) -> Iterator[Finding]:
    """A mode that the model lacks, a budget out of range, and what manual thinking rules out."""
    thinking = body.get("thinking")
    if not isinstance(thinking, dict):
        return
    path: Path = ("thinking",)
    mode = thinking.get("type")
    if not isinstance(mode, str) or mode not in _THINKING:
        yield Finding((*path, "type"), "field_invalid", f"It is one of {', '.join(_THINKING)}.")
        return
    yield from check_object(thinking, _THINKING[mode], path)
    if mode not in facts.thinking_modes:
        yield Finding((*path, "type"), "thinking_mode", "This model has no such mode.")
    if thinking.get("block_binding") is not None and BINDING_BETA not in betas:
        yield Finding((*path, "block_binding"), "binding_without_beta", "Send its beta header.")
    if mode == "enabled":
        yield from _manual_thinking(body, thinking)


def _manual_thinking(body: Mapping[str, Any], thinking: Mapping[str, Any]) -> Iterator[Finding]:
    budget, most, choice = (
        thinking.get("budget_tokens"),
        body.get("max_tokens"),
        body.get("tool_choice"),
    )
    if is_integer(budget) and is_integer(most) and budget >= most:
        yield Finding(("thinking", "budget_tokens"), "thinking_budget", "Less than max_tokens.")
    if isinstance(choice, dict) and choice.get("type") in ("any", "tool"):
        yield Finding(("tool_choice",), "thinking_forced_tool", "Not with manual thinking.")
    messages = body.get("messages")
    turns = joined(messages) if isinstance(messages, list) else []
    if _is_in_tool_round(turns):
        path, first = turns[-2].blocks[0]
        if str(first.get("type")) not in THINKING:
            yield Finding(path, "thinking_first", "During a tool round, start with thinking.")


def _is_in_tool_round(turns: Sequence[Turn]) -> bool:
    return (
        len(turns) > 1
        and bool(turns[-2].calls)
        and any(block.get("type") == "tool_result" for _, block in turns[-1].blocks)
    )


def system_message_findings(turns: Sequence[Turn], facts: ModelFacts) -> Iterator[Finding]:
    """System messages on a model that knows none."""
    for turn in turns if not facts.system_messages else ():
        if turn.role == "system":
            yield Finding(turn.path, "system_msg_model", "This model knows no system messages.")


def last_turn_findings(last: Turn, facts: ModelFacts) -> Iterator[Finding]:
    """A request that ends with words put into the assistant's mouth."""
    if last.role != "assistant":
        return
    if not facts.prefill:
        yield Finding(last.path, "prefill_unsupported", "End with a user message.")
    elif last.blocks:
        path, block = last.blocks[-1]
        text = block.get("text")
        if isinstance(text, str) and text != text.rstrip():
            yield Finding(path, "prefill_trailing_space", "End without whitespace.")


def reference_findings(turns: Sequence[Turn], names: Collection[str]) -> Iterator[Finding]:
    """References in tool results to tools that are not sent."""
    for path, block in all_blocks(turns):
        if block.get("type") == "tool_reference" and str(block.get("tool_name")) not in names:
            yield Finding(path, "tool_reference_missing", "Send the tool.")
