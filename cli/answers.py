"""What a model said and what that took, for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from cli import output
from cli.money import dollars

_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")


def show(blocks: Iterable[Mapping[str, Any]]) -> None:
    """Print content blocks: text as it is but safe to look at, tool calls as name and input."""
    for block in blocks:
        if block["type"] == "text":
            output.lines(block["text"])
        else:
            output.line(_named(block), "dim" if "thinking" in block["type"] else None)


def _named(block: Mapping[str, Any]) -> str:
    if block["type"] not in _CALLS:
        return f"[{block['type']}]"
    given = json.dumps(block["input"], ensure_ascii=False)
    return f"[{block['type']} {block['name']}] {given}"


def tokens(usage: Mapping[str, Any] | None) -> str:
    """The tokens of one call or several, the whole input with what the cache had and took."""
    usage = usage or {}
    if usage.get("input_tokens") is None:
        return "not known"
    read, written = (usage.get(f"cache_{each}_tokens") or 0 for each in ("read", "write"))
    cached = f" ({read:,} read from the cache, {written:,} written)" if read or written else ""
    whole = usage["input_tokens"] + read + written
    return f"{whole:,} tokens in{cached}, {output.shown(usage.get('output_tokens'))} out"


def spent(usage: dict[str, Any]) -> str:
    """The cost of a run's calls, and that it is not the whole cost where it is not."""
    unpriced = usage.get("unpriced_calls", 0)
    if unpriced and unpriced == usage["calls"]:
        return cost(None)
    known = cost(usage["cost_micro_dollars"])
    return f"{known} at least, calls of no known price: {unpriced:,}" if unpriced else known


def cost(micro_dollars: int | None) -> str:
    """The cost of one call or several."""
    return "not known" if micro_dollars is None else f"{dollars(micro_dollars)} US dollars"
