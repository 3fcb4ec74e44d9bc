"""The Anthropic Messages API, and every server that speaks it."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

import msgspec

from app.domain.jsontext import dumps
from app.domain.responses import Response, Usage
from app.domain.validity import betas_for
from app.provider.base import Cancelled, OnEvent, never, unheard
from app.provider.call import Call, bounded_by
from app.provider.clients import Clients
from app.provider.failures import ProviderFailure, from_event
from app.provider.retries import wait_before_retry
from app.provider.stream import Assembly

if TYPE_CHECKING:
    from app.provider.sdk import Answer, Client

# What a body may hold only together with its beta header; either without the other is a 400.

# Messages API, Token counting: the fields that it takes.
_COUNTED = (
    "model",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "cache_control",
    "speed",
)


class AnthropicProvider:
    """One account at one server. Safe to share between threads; made anew by itself after a fork.

    Always streams, sends the bytes of the given body as they are, and retries by itself: the
    provider has no idempotency, so that only what surely was not answered is sent again.
    """

    name = "anthropic"

    def __init__(self, api_key: str, base_url: str) -> None:
        self._api_key = api_key
        self._base_url = base_url
        self._clients = Clients(self._client)

    def __repr__(self) -> str:
        return f"AnthropicProvider({self._base_url!r})"

    def prepare(self) -> None:
        """See `Provider.prepare`."""
        with self._clients.one():
            pass

    def complete(
        self,
        body: Mapping[str, Any],
        *,
        deadline: float,
        on_event: OnEvent = unheard,
        cancelled: Cancelled = never,
    ) -> Response:
        """See `Provider.complete`."""
        started = time.monotonic()
        content, betas = _encoded({**body, "stream": True}), _header(body)
        call = Call(deadline, cancelled)
        attempt = 1
        while not isinstance(outcome := self._attempt(content, betas, call, on_event), Response):
            wait = wait_before_retry(outcome, attempt, call.remaining)
            if wait is None:
                raise outcome
            call.pause(wait)
            attempt += 1
        seconds = time.monotonic() - started
        return msgspec.structs.replace(outcome, attempts=attempt, seconds=seconds)

    def count_tokens(
        self, body: Mapping[str, Any], *, deadline: float, cancelled: Cancelled = never
    ) -> int:
        """See `TokenCounter.count_tokens`."""
        counted = {name: body[name] for name in _COUNTED if name in body}
        with bounded_by(Call(deadline, cancelled)), self._clients.one() as client:
            return client.count_tokens(_encoded(counted), _header(counted))

    def close(self) -> None:
        """Close every connection."""
        self._clients.close()

    def _client(self) -> Client:
        from app.provider.sdk import Client  # noqa: PLC0415 - takes a second: see there

        return Client(self._api_key, self._base_url)

    def _attempt(
        self, content: bytes, betas: str | None, call: Call, on_event: OnEvent
    ) -> Response | ProviderFailure:
        """Send it once. A failure is a value here, so that the next is never chained to it."""
        attempt = _Attempt(on_event)
        try:
            with (
                bounded_by(call),
                self._clients.one() as client,
                closing(client.stream(content, betas)) as answer,
            ):
                attempt.follow(answer)
            return attempt.response()
        except ProviderFailure as failure:
            return attempt.failed(failure)
        finally:
            call.in_flight = False


class _Attempt:
    """One sending of a request, and what has come of it."""

    def __init__(self, on_event: OnEvent) -> None:
        self._on_event = on_event
        self._assembly = Assembly()
        self._request_id: str | None = None
        self._sent_at = time.monotonic()
        self._first_event_at: float | None = None

    def follow(self, answer: Answer) -> None:
        """Take in the answer up to its last event."""
        self._request_id = answer.request_id
        for event in answer.events():
            self._first_event_at = self._first_event_at or time.monotonic()
            if event["type"] == "error":
                raise from_event(event, self._request_id, started=self._assembly.started)
            self._assembly.feed(event)
            self._on_event(event)
            if self._assembly.complete:
                answer.finish()
                return

    def response(self) -> Response:
        """The whole answer.

        Raises:
            StreamBroken: it is not whole.
        """
        blocks, assembly = self._assembly.blocks(), self._assembly
        return Response(
            id=assembly.id,
            request_id=self._request_id,
            model=assembly.model,
            blocks=blocks,
            stop_reason=assembly.stop_reason or "",
            stop_details=assembly.stop_details,
            usage=assembly.usage or Usage(),
            input_transformations=assembly.transformations,
            cut_calls=assembly.cut_calls,
            ignored=tuple(assembly.ignored),
            seconds_to_first_event=(self._first_event_at or self._sent_at) - self._sent_at,
        )

    def failed(self, failure: ProviderFailure) -> ProviderFailure:
        """The failure, with all that is known of what was answered and paid for before it."""
        failure.seen = dataclasses.replace(
            failure.seen,
            request_id=failure.seen.request_id or self._request_id,
            started=self._assembly.started,
            response_id=self._assembly.id,
            usage=self._assembly.usage,
        )
        return failure


def _encoded(body: Mapping[str, Any]) -> bytes:
    return dumps(body).encode()


def _header(body: Mapping[str, Any]) -> str | None:
    return ",".join(betas_for(body)) or None
