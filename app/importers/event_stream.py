"""The answer in a recorded stream of server-sent events."""

from __future__ import annotations

from typing import Any

from app.importers.documents import parse_text
from app.importers.shapes import dict_of

_TEXTS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}


def answer_of(stream: str) -> dict[str, Any] | None:
    """The message that the events built up, as far as the stream went; None without a start."""
    message: dict[str, Any] | None = None
    blocks: dict[str, _Block] = {}
    for line in stream.splitlines():
        event = parse_text(line[5:].strip()) if line.startswith("data:") else None
        if not isinstance(event, dict):
            continue
        name = event.get("type")
        if name == "message_start" and isinstance(event.get("message"), dict):
            message = dict(event["message"])
        elif name == "content_block_start" and isinstance(event.get("content_block"), dict):
            blocks[str(event.get("index"))] = _Block(event["content_block"])
        elif name == "content_block_delta" and str(event.get("index")) in blocks:
            blocks[str(event["index"])].add(event.get("delta"))
        elif name == "message_delta" and message is not None:
            _settle(message, event)
    if message is not None:
        message["content"] = [block.whole() for block in blocks.values()]
    return message


class _Block:
    """One block, whose text arrives in pieces."""

    def __init__(self, start: dict[str, Any]) -> None:
        self._start = start
        self._pieces: dict[str, list[str]] = {}
        self._citations: list[Any] = []

    def add(self, delta: Any) -> None:
        """Take one delta; kinds that are not known add nothing."""
        name = delta.get("type") if isinstance(delta, dict) else None
        field = _TEXTS.get(name) if isinstance(name, str) else None
        if field and isinstance(piece := delta.get(field), str):
            self._pieces.setdefault(field, []).append(piece)
        elif name == "citations_delta":
            self._citations.append(delta.get("citation"))

    def whole(self) -> dict[str, Any]:
        """The block with its pieces joined."""
        block = dict(self._start)
        for field, pieces in self._pieces.items():
            if field == "partial_json":
                block["input"] = "".join(pieces)
            else:
                block[field] = str(block.get(field) or "") + "".join(pieces)
        if self._citations:
            block["citations"] = self._citations
        return block


def _settle(message: dict[str, Any], event: dict[str, Any]) -> None:
    """Counts in a message_delta are totals, not increments: the last one stands."""
    delta, usage = event.get("delta"), event.get("usage")
    if isinstance(delta, dict):
        message |= delta
    if isinstance(usage, dict):
        message["usage"] = {**dict_of(message, "usage"), **usage}
