"""The official SDK as hango uses it: one attempt a call, raw events out, our failures only.

Importing this module imports the SDK, which takes more than a second: `clients.py` does so when
the first call is made, so that processes that never call do not pay for it.
"""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

import anthropic
import httpcore2
import httpx2
from anthropic import Omit, Stream

from app.domain.ids import identifier
from app.provider import failures
from app.provider.call import current
from app.provider.failures import (
    UNKNOWN_OUTCOME,
    ConnectionLost,
    ProviderFailure,
    StreamBroken,
    Unreachable,
)
from app.provider.network import BoundedBackend
from app.provider.stream import parse

API_VERSION = "2026-10-21"  # what the catalogue, the validator and the assembly of answers know
KEEP_IDLE_SECONDS = 30.0  # well below what load balancers allow, so that a reused one is alive
CONNECTIONS_KEPT = 32
LINGER_SECONDS = 1.0

T = TypeVar("T")

# ANTHROPIC_LOG=debug would make these write request bodies.
for _name in ("anthropic", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)

# All that leaves beside the framing. The SDK takes headers from ANTHROPIC_CUSTOM_HEADERS, trace
# context from whoever is about, and tells which machine it runs on: none of it belongs there.
_SENT = (
    "accept",
    "accept-encoding",
    "anthropic-beta",
    "anthropic-version",
    "authorization",
    "content-type",
    "user-agent",
)

_FOREIGN = (
    anthropic.AnthropicError,
    httpx2.HTTPError,
    httpx2.StreamError,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.TimeoutException,
    httpcore2.UnsupportedProtocol,
    OSError,
    ValueError,  # a malformed event
    RecursionError,
)
_NOT_SENT = (
    httpcore2.ConnectError,
    httpcore2.ConnectTimeout,
    httpcore2.PoolTimeout,
    httpcore2.UnsupportedProtocol,
    httpcore2.LocalProtocolError,
)
_MALFORMED = (ValueError, RecursionError, httpx2.DecodingError)


class Client:
    """A long-lived client of one account. Every use stands within `call.bounded_by`."""

    def __init__(self, api_key: str, base_url: str) -> None:
        self._sdk = anthropic.Anthropic(
            api_key=api_key,
            base_url=base_url,
            max_retries=0,
            timeout=None,
            open_telemetry={"traces": False, "propagation": False},
            http_client=httpx2.Client(
                transport=_Transport(),
                trust_env=False,
                follow_redirects=False,
                timeout=None,
                event_hooks={"request": [_only_what_is_sent]},
            ),
        )
        self._headers = {
            "accept-encoding": "identity",
            "anthropic-version": API_VERSION,
            "authorization": f"Bearer {api_key}",
            "content-type": "application/json",
            "user-agent": self._sdk.user_agent,
        }

    def stream(self, content: bytes, betas: str | None) -> Answer:
        """Send a body to /v1/messages.

        Raises:
            ProviderFailure: there is no answer, or it is an error.
        """
        return _ours(lambda: Answer(self._post_streaming(content, betas)))

    def count_tokens(self, content: bytes, betas: str | None) -> int:
        """Send a body to /v1/messages/count_tokens.

        Raises:
            ProviderFailure: there is no answer, it is an error, or holds no count.
        """
        answer = _ours(lambda: self._post(content, betas))
        count = answer.get("input_tokens") if isinstance(answer, dict) else None
        if not isinstance(count, int) or count < 0:
            raise StreamBroken("The answer holds no count.", seen=UNKNOWN_OUTCOME)
        return count

    def close(self) -> None:
        """Close the connections."""
        self._sdk.close()

    def _post_streaming(self, content: bytes, betas: str | None) -> Stream[object]:
        # The SDK's own method for any endpoint. `messages.create` would change the body's bytes
        # and hide the events that it does not know.
        return self._sdk.post(
            "/v1/messages",
            cast_to=object,
            content=content,
            options={"headers": self._with("text/event-stream", betas)},
            stream=True,
            stream_cls=Stream[object],
        )

    def _post(self, content: bytes, betas: str | None) -> object:
        response = self._sdk.post(
            "/v1/messages/count_tokens",
            cast_to=httpx2.Response,
            content=content,
            options={"headers": self._with("application/json", betas)},
        )
        return json.loads(response.content)

    def _with(self, accept: str, betas: str | None) -> dict[str, str | Omit]:
        return {**self._headers, "accept": accept, "anthropic-beta": betas or Omit()}


class Answer:
    """A streamed answer that has begun."""

    def __init__(self, stream: Stream[object]) -> None:
        self._stream = stream
        self._source = _parsed(stream)
        self.request_id = identifier(stream.response.headers.get("request-id"))

    def events(self) -> Iterator[dict[str, Any]]:
        """The events as they come, pings left out.

        Raises:
            ProviderFailure: the stream broke, was cut, or told of an error.
        """
        while (event := _ours(lambda: next(self._source, None))) is not None:
            yield event

    def finish(self) -> None:
        """Read on to the end of a whole answer, so that its connection can be used again.

        Not for long: what a server does after its last event is no reason to wait or to fail.
        """
        current().hurry(LINGER_SECONDS)
        with suppress(ProviderFailure):
            for _ in self.events():
                pass

    def close(self) -> None:
        """Give the connection back, or close it when the answer was not read to its end."""
        self._stream.close()


class _Transport(httpx2.BaseTransport):
    """HTTP/1.1 over bounded connections."""

    def __init__(self) -> None:
        self._pool = httpcore2.ConnectionPool(
            ssl_context=httpx2.create_ssl_context(trust_env=False),
            max_connections=None,  # how many calls run at once is decided elsewhere
            max_keepalive_connections=CONNECTIONS_KEPT,
            keepalive_expiry=KEEP_IDLE_SECONDS,
            network_backend=BoundedBackend(),
            socket_options=[(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)],
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and read the head of its answer."""
        answer = self._pool.handle_request(
            httpcore2.Request(
                method=request.method,
                url=str(request.url),
                headers=request.headers.raw,
                content=request.read(),
                extensions=request.extensions,
            )
        )
        return httpx2.Response(
            status_code=answer.status,
            headers=answer.headers,
            stream=_Body(answer),
            extensions=answer.extensions,
        )

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()


class _Body(httpx2.SyncByteStream):
    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        return self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


def _parsed(stream: Stream[object]) -> Iterator[dict[str, Any]]:
    for raw in Stream.raw_events(stream.response):
        if raw.data and raw.event != "ping":
            yield {"type": raw.event, **parse(raw.data)}


def _only_what_is_sent(request: httpx2.Request) -> None:
    kept = {name: request.headers[name] for name in _SENT if name in request.headers}
    framing = {
        "host": request.url.netloc.decode("ascii"),
        "content-length": str(len(request.content)),
    }
    request.headers = httpx2.Headers(framing | kept)


def _ours(work: Callable[[], T]) -> T:
    """What `work` gives, or the failure that its exception means.

    The failure is raised outside the handler: chained to it, the exception would carry the
    provider's words into every log that prints causes.
    """
    try:
        return work()
    except _FOREIGN as error:
        failure = _translated(error)
    raise failure


def _translated(error: BaseException) -> ProviderFailure:
    cause = error.__cause__ if isinstance(error, anthropic.APIConnectionError) else error
    if isinstance(cause, ProviderFailure):  # a bound of the call, through the SDK's hands
        return cause
    if isinstance(cause, anthropic.APIStatusError):
        return failures.from_answer(cause.status_code, cause.response.headers, cause.body)
    if isinstance(cause, _NOT_SENT):
        return Unreachable("No connection to the provider could be made.")
    if isinstance(cause, _MALFORMED):
        return StreamBroken("It is not what the Messages API sends.", seen=UNKNOWN_OUTCOME)
    return ConnectionLost("It ended before the answer did.", seen=UNKNOWN_OUTCOME)
