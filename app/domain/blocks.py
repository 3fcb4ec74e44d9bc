"""What the blocks of a message are to the rules: which call, which answer, which need care."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

# Put before the id of a call that the provider or an MCP server runs and answers itself, within
# the assistant's turn. Ids of the Messages API never hold it, so that `~srvtoolu_1` and `toolu_1`
# stand in one list and nobody answers the wrong one.
SERVER = "~"

CALLS: Mapping[str, str] = {"tool_use": "", "server_tool_use": SERVER, "mcp_tool_use": SERVER}
RESULTS: Mapping[str, str] = {
    "tool_result": "",
    **dict.fromkeys(
        (
            "web_search_tool_result",
            "web_fetch_tool_result",
            "code_execution_tool_result",
            "bash_code_execution_tool_result",
            "text_editor_code_execution_tool_result",
            "tool_search_tool_result",
            "advisor_tool_result",
            "mcp_tool_result",
        ),
        SERVER,
    ),
}
THINKING = frozenset({"thinking", "redacted_thinking"})

_PLAIN = frozenset({"text", "search_result", "tool_reference", "browser_state"})
_MARKS: Mapping[str, str] = {
    "thinking": "thinking",
    "redacted_thinking": "thinking",
    "image": "image",
    "document": "document",
    "container_upload": "document",
    "compaction": "compaction",
    **dict.fromkeys(("server_tool_use", "mcp_tool_use"), "server_tool"),
    **{kind: "server_tool" for kind, owner in RESULTS.items() if owner},
}


class BlockIndex(msgspec.Struct, frozen=True):
    """What a message row keeps of its blocks, so that nobody has to read them for it.

    `marks` are sorted. Beside those of the table above: `cache` (a block has a cache mark),
    `beside_results` (a user message holds results and other blocks), `results_late` (a result
    stands behind such a block), `error_media` (a failed result holds more than text),
    `references` (a result refers to a tool definition),
    `ends_thinking`, `ends_server_result` (the last block is one), `unknown` (a type that hango
    does not know).
    """

    tool_use_ids: str
    tool_result_ids: str
    marks: str


def index_blocks(role: str, blocks: Sequence[Any]) -> BlockIndex:
    """Read everything that a message row keeps of its blocks in one pass."""
    calls: list[str] = []
    results: list[str] = []
    marks: set[str] = set()
    for kind, block in _typed(blocks):
        if kind in CALLS:
            calls.append(CALLS[kind] + str(block.get("id")))
        elif kind in RESULTS:
            results.append(RESULTS[kind] + str(block.get("tool_use_id")))
            if "beside_results" in marks:
                marks.add("results_late")
        if kind != "tool_result" and role == "user":
            marks.add("beside_results")
        marks.update(_marks_of(kind, block))
    if not results:
        marks.discard("beside_results")
    marks.update(_ending(blocks))
    return BlockIndex(" ".join(calls), " ".join(results), " ".join(sorted(marks)))


def tool_names(blocks: Iterable[Any]) -> dict[str, str]:
    """The name of the tool that each call among `blocks` is for, by the call's id."""
    return {
        block["id"]: block["name"]
        for kind, block in _typed(blocks)
        if kind in CALLS and isinstance(block.get("id"), str) and isinstance(block.get("name"), str)
    }


def _typed(blocks: Iterable[Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for block in blocks:
        if isinstance(block, Mapping):
            kind = block.get("type")
            yield (kind if isinstance(kind, str) else "", block)


def _marks_of(kind: str, block: Mapping[str, Any]) -> Iterator[str]:
    if kind in _MARKS:
        yield _MARKS[kind]
    elif kind not in _PLAIN and kind not in CALLS and kind not in RESULTS:
        yield "unknown"
    if block.get("cache_control"):
        yield "cache"
    if kind == "tool_result" and isinstance(block.get("content"), list):
        yield from _nested_marks(block)


def _nested_marks(result: Mapping[str, Any]) -> Iterator[str]:
    for kind, block in _typed(result["content"]):
        yield from _marks_of(kind, block)
        if kind == "tool_reference":
            yield "references"
        if kind != "text" and result.get("is_error") is True:
            yield "error_media"


def _ending(blocks: Sequence[Any]) -> Iterator[str]:
    for kind, _ in _typed(blocks[-1:]):
        if kind in THINKING:
            yield "ends_thinking"
        if RESULTS.get(kind) == SERVER:
            yield "ends_server_result"
