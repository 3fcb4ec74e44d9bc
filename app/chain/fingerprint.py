"""Hashes that prove what was sent: of each part, and of a whole request."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any

from app.domain.jsontext import dumps
from app.domain.requests import ModelRequest


@lru_cache(maxsize=4096)
def text_sha256(text: str) -> str:
    """Hex SHA-256 of a system block's text."""
    return sha256(text.encode()).hexdigest()


def definition_sha256(definition: Mapping[str, Any]) -> str:
    """Hex SHA-256 of a tool definition as compact JSON in its own key order."""
    return sha256(dumps(definition).encode()).hexdigest()


def request_sha256(request: ModelRequest) -> str:
    """Hex SHA-256 over the hashes of the parts sent, in order, and the other parameters.

    Needs no content: the hash of a message is made when it is written. A real call makes it
    again from the blocks that it sends, so that "sent is what was inspected" can be checked.
    """
    head = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "tool_choice": request.tool_choice,
        "parameters": request.parameters,
        "cache": [b.part for b in request.system if b.cache]
        + [t.part for t in request.tools if t.cache],
    }
    lines = [dumps(head), "tools"]
    lines += [definition_sha256(tool.definition) for tool in request.tools]
    lines.append("system")
    lines += [text_sha256(block.text) for block in request.system]
    lines.append("messages")
    lines += [message.sha256 for message in request.messages]
    return sha256("\n".join(lines).encode()).hexdigest()
