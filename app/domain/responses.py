"""What a model call answered: the blocks as they came, why it stopped, what it used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from app.domain.messages import Block


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """The token figures of one call.

    Messages API: `input_tokens` leaves out what was read from the cache and what was written to
    it. The whole input is the sum of three figures.
    """

    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    raw: Mapping[str, Any] = {}  # as the provider sent it: the price needs more than the four

    @property
    def whole_input(self) -> int:
        """Every token that the model was given, cached ones included."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> Usage:
        """The figures in a `usage` object; one that is missing or no number is 0."""
        return cls(
            input_tokens=_figure(raw, "input_tokens"),
            cache_read_tokens=_figure(raw, "cache_read_input_tokens"),
            cache_write_tokens=_figure(raw, "cache_creation_input_tokens"),
            output_tokens=_figure(raw, "output_tokens"),
            raw=dict(raw),
        )


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """A finished answer. Times are seconds."""

    id: str | None  # the provider's id of the message
    request_id: str | None  # the provider's id of the call, for its support
    model: str  # as the provider names it
    blocks: Sequence[Block]  # as received: order of keys, empty fields and unknown types included
    stop_reason: str  # end_turn, tool_use, max_tokens …; an open list
    stop_details: Mapping[str, Any] | None = None
    usage: Usage
    # What the provider left out of the request or let pass, such as thinking of another prefix.
    input_transformations: Sequence[Mapping[str, Any]] = ()
    # Ids of tool calls whose input was cut off (by max_tokens). Their `input` is {}: never run one.
    cut_calls: Sequence[str] = ()
    ignored: Sequence[str] = ()  # types of events and deltas that hango does not know, each once
    attempts: int = 1
    seconds_to_first_event: float = 0.0  # of the attempt that succeeded
    seconds: float = 0.0  # of the whole call, earlier attempts and the waits between included


def _figure(raw: Mapping[str, Any], name: str) -> int:
    value = raw.get(name)
    return value if isinstance(value, int) and value > 0 else 0
