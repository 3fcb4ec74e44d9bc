"""HTTP/1.1 connections that go only where they may: the one way out for everything of tenants.

Importing this module imports httpx2, which is slow: `client.py` does so at the first call.
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import AsyncIterator, Callable, Iterable
from functools import cache

import httpcore2
import httpx2

from app.errors import Failure, OutsideFailed
from app.tools.addresses import Reach, Target
from app.tools.lookup import LookUp, addresses_of

COMPRESSED = "The server sent a compressed answer, which it was not asked for."
TOO_LARGE = "The server sent more than hango takes."

# At DEBUG these write headers.
for _name in ("httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)


@cache
def public_authorities() -> ssl.SSLContext:
    """The authorities that certificates are checked against; nothing of the environment."""
    return httpx2.create_ssl_context(trust_env=False)


class CheckedTransport(httpx2.AsyncBaseTransport):
    """Sends requests to where `reach` lets it, without proxies and without following anything.

    Bounds of time are the caller's: it lives in one event loop, whose task is cancelled.
    """

    def __init__(
        self,
        reach: Reach,
        look_up: LookUp,
        authorities: ssl.SSLContext,
        max_bytes: int,
        on_failure: Callable[[Failure], None] = lambda _: None,
    ) -> None:
        """`max_bytes`: the most that all answers together may hold before `OutsideFailed`.

        `on_failure` hears of each refusal, for callers whose library swallows what is raised.
        """
        self._reach = reach
        self._left = max_bytes
        self._on_failure = on_failure
        self._pools = {
            scheme: httpcore2.AsyncConnectionPool(
                ssl_context=authorities,
                network_backend=_CheckedBackend(reach, scheme, look_up),
            )
            for scheme in ("http", "https")
        }

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request and read the head of its answer.

        Raises:
            AddressRefused: this is not where hango may call.
            OutsideFailed: the answer is compressed.
        """
        try:
            return await self._exchanged(request)
        except Failure as failure:
            self._on_failure(failure)
            raise

    async def _exchanged(self, request: httpx2.Request) -> httpx2.Response:
        target = self._reach.check_url(str(request.url))
        request.headers["accept-encoding"] = "identity"
        answer = await self._pools[target.scheme].handle_async_request(
            httpcore2.Request(
                method=request.method,
                url=httpcore2.URL(
                    scheme=request.url.raw_scheme,
                    host=request.url.raw_host,
                    port=request.url.port,
                    target=request.url.raw_path,
                ),
                headers=request.headers.raw,
                content=await request.aread(),
            )
        )
        headers = httpx2.Headers(answer.headers)
        if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            await answer.aclose()
            raise OutsideFailed(COMPRESSED)
        return httpx2.Response(answer.status, headers=headers, stream=_Body(answer, self))

    async def aclose(self) -> None:
        """Close every connection."""
        for pool in self._pools.values():
            await pool.aclose()

    def received(self, size: int) -> None:
        """Take note of bytes that came. Raises OutsideFailed: there were too many."""
        self._left -= size
        if self._left < 0:
            failure = OutsideFailed(TOO_LARGE)
            self._on_failure(failure)
            raise failure


class _Body(httpx2.AsyncByteStream):
    def __init__(self, answer: httpcore2.Response, transport: CheckedTransport) -> None:
        self._answer = answer
        self._transport = transport

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._answer.aiter_stream():
            self._transport.received(len(piece))
            yield piece

    async def aclose(self) -> None:
        await self._answer.aclose()


class _CheckedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to the very addresses that were checked: a name that changes gains nothing."""

    def __init__(self, reach: Reach, scheme: str, look_up: LookUp) -> None:
        self._reach = reach
        self._scheme = scheme
        self._look_up = look_up
        self._system = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first of the host's addresses that answers.

        Raises:
            AddressRefused: one of them is not where hango may call.
        """
        target = Target(self._scheme, host, port)
        literal = target.address
        found = [literal] if literal else await addresses_of(host, self._look_up)
        self._reach.check_addresses(target, found)
        failure: Exception = httpcore2.ConnectError()
        for address in found:
            try:
                return await self._system.connect_tcp(
                    str(address), port, timeout, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure
