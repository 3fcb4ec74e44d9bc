"""What the stand-in answers: scripted, or sensible by default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from app.domain.catalogue import ModelFacts

Block = dict[str, Any]
Body = Mapping[str, Any]


class Reply(msgspec.Struct, kw_only=True):
    """One answer. Thinking without a signature is signed; a missing figure is simulated."""

    blocks: list[Block]
    stop_reason: str | None = None  # None: tool_use where there is a call, otherwise end_turn
    stop_details: dict[str, Any] | None = None
    usage: dict[str, Any] = {}  # replaces the simulated figures that it names
    delay: float = 0.0  # seconds of silence before the first byte
    pace: float = 0.0  # seconds before each event

    @property
    def reason(self) -> str:
        if self.stop_reason:
            return self.stop_reason
        calls = any(block["type"] == "tool_use" for block in self.blocks)
        return "tool_use" if calls else "end_turn"


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def thinking(words: str = "Let me see.") -> Block:
    return {"type": "thinking", "thinking": words, "signature": ""}


def redacted() -> Block:
    return {"type": "redacted_thinking", "data": ""}


def tool_use(name: str, call_id: str = "", /, **arguments: Any) -> Block:
    """A call; without `call_id` it gets one of its own when it is sent."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def default_reply(body: Body, facts: ModelFacts) -> Reply:
    """An answer that repeats what was said last, thinking first where the model would."""
    said = f"You said: {_last_words(body)}"
    blocks = [thinking(), text(said)] if _thinks(body, facts) else [text(said)]
    return Reply(blocks=blocks)


def _thinks(body: Body, facts: ModelFacts) -> bool:
    wanted = body.get("thinking")
    forced = (body.get("tool_choice") or {}).get("type") in ("any", "tool")
    return not forced and (
        facts.thinking_by_default if wanted is None else wanted["type"] != "disabled"
    )


def _last_words(body: Body) -> str:
    content = body["messages"][-1]["content"]
    if isinstance(content, str):
        return content
    words = [block["text"] for block in content if block["type"] == "text"]
    return words[-1] if words else f"{len(content)} blocks without words"
