"""The span and the metrics of a model call, by OpenTelemetry's GenAI conventions."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from app.domain.ids import identifier
from app.domain.jsontext import clean_dumps, dumps
from app.domain.responses import Response, Usage
from app.domain.snapshots import Snapshot
from app.domain.usage import Purpose
from app.telemetry import context, metrics, names, spans
from app.telemetry.spans import Attributes, Span

CHAT = "chat"  # the name of the operation


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """A model call that is about to be made."""

    provider: str
    base_url: str | None  # of its server; None: it has none
    purpose: Purpose
    body: Mapping[str, Any]
    shown: Snapshot
    run_id: str | None
    try_id: str | None
    with_content: bool  # the tenant allows it, and somebody records
    for_langfuse: bool


class Chat:
    """A model call that is under way."""

    def __init__(self, about: About, span: Span) -> None:
        self._about = about
        self._span = span
        self._labels = {
            names.OPERATION: CHAT,
            names.PROVIDER: about.provider,
            # Anybody can name a model that does not exist.
            names.MODEL: about.shown.model if about.shown.model_known else "other",
            names.PURPOSE: about.purpose,
        }
        self._started = time.monotonic()

    def answered(self, response: Response, cost_micro_dollars: int | None) -> None:
        """Note what came."""
        self._span.set(_response_attributes(response))
        self._note_usage(response.usage, cost_micro_dollars)
        if self._about.with_content:
            blocks = _json(list(response.blocks))
            self._span.set({names.OUTPUT: blocks})
            self._span.set(self._langfuse({names.LANGFUSE_OUTPUT: blocks}))
        metrics.record(names.CALL_DURATION, time.monotonic() - self._started, self._labels)

    def failed(self, code: str, usage: Usage | None, cost_micro_dollars: int | None) -> None:
        """Note that no whole answer came, and what it cost as far as that is known."""
        if usage is not None:
            self._note_usage(usage, cost_micro_dollars)
        labels = {**self._labels, names.ERROR: code}
        metrics.record(names.CALL_DURATION, time.monotonic() - self._started, labels)

    def _note_usage(self, usage: Usage, cost_micro_dollars: int | None) -> None:
        self._span.set(
            {
                names.INPUT_TOKENS: usage.whole_input,
                names.OUTPUT_TOKENS: usage.output_tokens,
                names.CACHE_READ: usage.cache_read_tokens,
                names.CACHE_WRITE: usage.cache_write_tokens,
                names.COST: cost_micro_dollars,
            }
        )
        self._span.set(self._langfuse(_langfuse_figures(usage, cost_micro_dollars)))
        for kind, tokens in (("input", usage.whole_input), ("output", usage.output_tokens)):
            metrics.record(names.CALL_TOKENS, tokens, {**self._labels, names.TOKEN_TYPE: kind})

    def _langfuse(self, attributes: Attributes) -> Attributes:
        return attributes if self._about.for_langfuse else spans.NOTHING


@contextmanager
def begun(about: About) -> Iterator[Chat]:
    """The span around a model call. What the call raises marks it as failed."""
    name = f"{names.CHAT} {about.shown.model}"
    with spans.begun(name, "client", _request_attributes(about)) as span:
        if span.recorded:
            span.set(context.overridden(about.shown))
            context.tell_overrides(span, about.shown)
            if about.with_content:
                span.set(_content(about))
        yield Chat(about, span)


def _request_attributes(about: About) -> Attributes:
    shown, body = about.shown, about.body
    server = urlsplit(about.base_url or "")
    return {
        names.OPERATION: CHAT,
        names.PROVIDER: about.provider,
        names.MODEL: shown.model,
        names.MAX_TOKENS: body.get("max_tokens"),
        names.TEMPERATURE: body.get("temperature"),
        names.STREAM: True,
        names.CONVERSATION: shown.session_id,
        names.AGENT: shown.agent_id,
        names.SERVER_ADDRESS: server.hostname,
        names.SERVER_PORT: server.port,
        names.PURPOSE: about.purpose,
        names.RUN_ID: about.run_id,
        names.TRY_ID: about.try_id,
        names.TRY: True if about.try_id else None,
        names.REQUEST_SHA256: shown.request_sha256,
        names.LANGFUSE_TYPE: "generation" if about.for_langfuse else None,
        names.LANGFUSE_SESSION: shown.session_id if about.for_langfuse else None,
    }


def _response_attributes(response: Response) -> Attributes:
    return {
        names.RESPONSE_ID: identifier(response.id),
        names.RESPONSE_MODEL: identifier(response.model),
        names.FINISH_REASONS: [reason] if (reason := identifier(response.stop_reason)) else None,
        names.FIRST_CHUNK: response.seconds_to_first_event,
        names.ATTEMPTS: response.attempts,
        names.THINKING_LEFT_OUT: len(response.input_transformations) or None,
    }


def _content(about: About) -> Attributes:
    """The request itself. Only for tenants that want it."""
    body = about.body
    found = {
        names.INSTRUCTIONS: body.get("system"),
        names.INPUT: body.get("messages"),
        names.DEFINITIONS: body.get("tools"),
    }
    written = {name: _json(value) for name, value in found.items() if value}
    if about.for_langfuse:
        written[names.LANGFUSE_INPUT] = _json(
            {name: body[name] for name in ("system", "messages", "tools") if body.get(name)}
        )
    return written


def _langfuse_figures(usage: Usage, cost_micro_dollars: int | None) -> Attributes:
    """Langfuse adds the figures up, so that none may stand in another."""
    figures = {
        "input": usage.input_tokens,
        "input_cache_read": usage.cache_read_tokens,
        "input_cache_write": usage.cache_write_tokens,
        "output": usage.output_tokens,
    }
    cost = None if cost_micro_dollars is None else {"total": cost_micro_dollars / 1_000_000}
    return {
        names.LANGFUSE_USAGE: dumps(figures),
        names.LANGFUSE_COST: None if cost is None else dumps(cost),
    }


def _json(value: Any) -> str:
    return clean_dumps(value)
