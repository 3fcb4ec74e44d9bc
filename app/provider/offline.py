"""A stand-in that needs no key and no network, and says so in every answer."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from app.domain.jsontext import dumps
from app.domain.responses import Response, Usage
from app.provider.base import Cancelled, OnEvent, never, unheard
from app.provider.call import Call
from app.provider.stream import Assembly

MODEL = "hango-offline"
_QUOTED = 300  # characters of a text that are repeated
_BYTES_PER_TOKEN = 4  # a rule of thumb: nothing is billed by it


class OfflineProvider:
    """Answers with what it was given, the same for the same request, so that inspect, overrides
    and try can be seen at work before there is a key.
    """

    name = "offline"

    def prepare(self) -> None:
        """Nothing to load."""

    def complete(
        self,
        body: Mapping[str, Any],
        *,
        deadline: float,
        on_event: OnEvent = unheard,
        cancelled: Cancelled = never,
    ) -> Response:
        """See `Provider.complete`."""
        started, call, assembly = time.monotonic(), Call(deadline, cancelled), Assembly()
        for event in _events(body):
            call.patience()
            assembly.feed(event)
            on_event(event)
        return Response(
            id=assembly.id,
            request_id=None,
            model=assembly.model,
            blocks=assembly.blocks(),
            stop_reason=assembly.stop_reason or "",
            usage=assembly.usage or Usage(),
            seconds=time.monotonic() - started,
        )

    def close(self) -> None:
        """Nothing is open."""


def _events(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The answer as the Messages API would stream it, a line at a time."""
    sent = dumps(body).encode()
    lines = _answer(body)
    usage = {"input_tokens": len(sent) // _BYTES_PER_TOKEN, "output_tokens": 1}
    yield {
        "type": "message_start",
        "message": {
            "id": f"msg_offline_{sha256(sent).hexdigest()[:24]}",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [],
            "stop_reason": None,
            "usage": usage,
        },
    }
    block = {"type": "text", "text": ""}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    for line in lines:
        delta = {"type": "text_delta", "text": line}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": sum(len(line) for line in lines) // _BYTES_PER_TOKEN},
    }
    yield {"type": "message_stop"}


def _answer(body: Mapping[str, Any]) -> list[str]:
    said = [
        "I am hango's offline stand-in. No model was called; this is what one would have seen.",
        *_system_seen(_blocks(body.get("system"))),
        _tools_seen(body.get("tools") or ()),
        _messages_seen(body["messages"]),
        f"The last thing you said: {_quoted(_last_user_text(body['messages']))}",
    ]
    return [f"{line}\n" for line in said[:-1]] + said[-1:]


def _system_seen(blocks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield f"System: {_number(len(blocks), 'block')}."
    for number, block in enumerate(blocks, start=1):
        text = str(block.get("text", ""))
        first = next((line for line in text.splitlines() if line.strip()), "")
        yield f"  {number}. {len(text):,} characters: {_quoted(first, 60)}"


def _tools_seen(tools: Sequence[Mapping[str, Any]]) -> str:
    names = ", ".join(str(tool.get("name") or tool.get("type")) for tool in tools)
    return f"Tools: {names or 'none'}."


def _messages_seen(messages: Sequence[Mapping[str, Any]]) -> str:
    kinds = Counter(
        str(block.get("type")) for each in messages for block in _blocks(each["content"])
    )
    of_what = ", ".join(_number(number, f"{kind} block") for kind, number in kinds.items())
    return f"Messages: {_number(len(messages), 'turn')} with {of_what or 'nothing in them'}."


def _last_user_text(messages: Sequence[Mapping[str, Any]]) -> str:
    for message in reversed(messages):
        if message["role"] == "user":
            texts = [b["text"] for b in _blocks(message["content"]) if b.get("type") == "text"]
            if texts:
                return str(texts[-1])
    return ""


def _blocks(content: str | Sequence[Mapping[str, Any]] | None) -> Sequence[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content or ()


def _quoted(text: str, longest: int = _QUOTED) -> str:
    if not text.strip():
        return "nothing in words."
    return f"“{text}”" if len(text) <= longest else f"“{text[:longest]}…”"


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
