"""A message as the API streams it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

PIECE = 24  # characters of a delta

Event = dict[str, Any]

_HOLLOW: Mapping[str, dict[str, Any]] = {
    "text": {"text": ""},
    "thinking": {"thinking": "", "signature": ""},
    "tool_use": {"input": {}},
    "server_tool_use": {"input": {}},
}


def frame(event: Mapping[str, Any]) -> bytes:
    """One server-sent event."""
    data = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    return f"event: {event['type']}\ndata: {data}\n\n".encode()


def events_of(message: Mapping[str, Any]) -> Iterator[Event]:
    """The events of a whole message, usage at the start and, as a running total, at the end."""
    usage = message["usage"]
    head = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    head.pop("stop_details", None)
    yield {"type": "message_start", "message": head}
    for index, block in enumerate(message["content"]):
        yield {"type": "content_block_start", "index": index, "content_block": _empty(block)}
        if index == 0:
            yield {"type": "ping"}
        for delta in _deltas(block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {name: message.get(name) for name in ("stop_reason", "stop_sequence", "stop_details")}
    yield {"type": "message_delta", "delta": ending, "usage": usage}
    yield {"type": "message_stop"}


def _empty(block: Mapping[str, Any]) -> dict[str, Any]:
    return {**block, **_HOLLOW.get(block["type"], {})}


def _deltas(block: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if block["type"] == "text":
        for piece in _pieces(block["text"]):
            yield {"type": "text_delta", "text": piece}
    elif block["type"] == "thinking":
        for piece in _pieces(block["thinking"]):
            yield {"type": "thinking_delta", "thinking": piece}
        yield {"type": "signature_delta", "signature": block["signature"]}
    elif block["type"] in ("tool_use", "server_tool_use"):
        yield {"type": "input_json_delta", "partial_json": ""}
        written = json.dumps(block["input"], ensure_ascii=False) if block["input"] else ""
        for piece in _pieces(written):
            yield {"type": "input_json_delta", "partial_json": piece}


def _pieces(words: str) -> Iterator[str]:
    for start in range(0, len(words), PIECE):
        yield words[start : start + PIECE]
