"""One request to a server outside, from its first look-up to the last byte within one deadline."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field

from app.errors import OutsideFailed, OutsideTooSlow
from app.tools.addresses import Reach
from app.tools.lookup import LookUp, by_the_system

UNREACHABLE = "The server could not be reached, or did not speak HTTP as it should."
TOO_SLOW = "The server did not answer in time."
USER_AGENT = "hango"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """What is sent. `repr` leaves out what may be secret."""

    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    content: bytes | None = field(default=None, repr=False)
    seconds: float  # for all of it
    max_bytes: int  # of the answer: what goes beyond is not read


@dataclass(frozen=True, slots=True)
class Incoming:
    """What came back, whatever its status: a redirect is an answer like every other."""

    status: int
    content_type: str  # in lower case, with its parameters; empty where none was told
    body: bytes = field(repr=False)
    is_cut: bool  # there was more than `max_bytes`


class OutsideClient:
    """Calls servers that tenants name. Safe to share between threads; keeps no connection."""

    def __init__(
        self,
        reach: Reach,
        *,
        look_up: LookUp = by_the_system,
        authorities: ssl.SSLContext | None = None,
    ) -> None:
        """`authorities`: those that vouch for servers; as a rule the public ones."""
        self.reach = reach
        self.look_up = look_up
        self._authorities = authorities

    def send(self, request: Outgoing) -> Incoming:
        """Send a request and read its answer.

        Raises:
            AddressRefused: this is not where hango may call.
            OutsideTooSlow: it took longer than `seconds`.
            OutsideFailed: there is no answer, or none that can be read.
        """
        return asyncio.run(self._send(request))

    def authorities(self) -> ssl.SSLContext:
        """What the certificates of servers are checked against."""
        if self._authorities is None:
            from app.tools.transport import public_authorities  # noqa: PLC0415 (imports httpx2)

            self._authorities = public_authorities()
        return self._authorities

    async def _send(self, request: Outgoing) -> Incoming:
        # Here, since importing httpx2 takes longer than all else that a start does; and before
        # the time runs, since only a process's first call waits for it.
        import httpcore2  # noqa: PLC0415
        import httpx2  # noqa: PLC0415

        authorities = self.authorities()
        foreign = (
            OSError,
            httpcore2.NetworkError,
            httpcore2.ProtocolError,
            httpcore2.TimeoutException,
            httpx2.InvalidURL,
        )
        try:
            async with asyncio.timeout(request.seconds):
                return await self._exchange(request, authorities)
        except TimeoutError:
            failure: OutsideFailed = OutsideTooSlow(TOO_SLOW)
        except foreign:
            failure = OutsideFailed(UNREACHABLE)
        # Raised outside of the handlers: chained to it, the other error would be logged with it.
        raise failure

    async def _exchange(self, request: Outgoing, authorities: ssl.SSLContext) -> Incoming:
        import httpx2  # noqa: PLC0415 (as above)

        from app.tools.transport import CheckedTransport  # noqa: PLC0415 (as above)

        self.reach.check_url(request.url)
        sent = httpx2.Request(
            request.method,
            request.url,
            headers={"user-agent": USER_AGENT, **request.headers},
            content=request.content,
        )
        # One piece more than is kept: what is cut is told apart from what just fits.
        room = request.max_bytes + 2**20
        async with CheckedTransport(self.reach, self.look_up, authorities, room) as transport:
            answer = await transport.handle_async_request(sent)
            body = bytearray()
            try:
                async for piece in answer.aiter_raw():
                    body += piece
                    if len(body) > request.max_bytes:
                        break
            finally:
                await answer.aclose()
        return Incoming(
            answer.status_code,
            answer.headers.get("content-type", "").lower(),
            bytes(body[: request.max_bytes]),
            len(body) > request.max_bytes,
        )
