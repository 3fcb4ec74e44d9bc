"""Tool calls of the model, what carries them out, and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from app.domain.messages import Block


class ToolCall(msgspec.Struct, frozen=True):
    """One call, as the model made it."""

    id: str
    name: str
    input: Mapping[str, Any]


class ToolOutcome(msgspec.Struct, frozen=True):
    """What a call came to. A failed one is told to the model, and is no failure of the run."""

    content: str | list[Block]
    is_error: bool = False


class ToolError(Exception):
    """A call that cannot be carried out. Its text tells the model what to do instead."""


ToolHandler = Callable[[ToolCall], ToolOutcome]
"""Carries out one call. Raises nothing that the model could do something about."""
