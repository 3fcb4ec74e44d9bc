"""One request to a server outside, from its first look-up to the last byte within one deadline."""

from __future__ import annotations

import asyncio
import ssl

import httpcore2
import httpx2

from app.errors import OutsideFailed
from app.tools.addresses import Reach
from app.tools.bounds import Cancelled, bounded
from app.tools.lookup import LookUp
from app.tools.messages import USER_AGENT, Incoming, Outgoing
from app.tools.transport import CheckedTransport

UNREACHABLE = "The server could not be reached, or did not speak HTTP as it should."

_FOREIGN = (
    OSError,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.TimeoutException,
    httpx2.InvalidURL,
)


def exchange(
    reach: Reach,
    look_up: LookUp,
    authorities: ssl.SSLContext,
    request: Outgoing,
    cancelled: Cancelled,
) -> Incoming:
    """Send a request and read its answer, in an event loop of its own.

    Raises:
        AddressRefused, OutsideFailed, OutsideTooSlow
    """
    # One piece more than is kept: what is cut is told apart from what just fits.
    transport = CheckedTransport(reach, look_up, authorities, request.max_bytes + 2**20)
    try:
        return asyncio.run(bounded(_exchanged(transport, request), request.seconds, cancelled))
    except _FOREIGN:
        pass
    # Raised outside of the handler: chained to it, the other error would be logged with it.
    raise OutsideFailed(UNREACHABLE)


async def _exchanged(transport: CheckedTransport, request: Outgoing) -> Incoming:
    async with transport:
        answer = await transport.handle_async_request(
            httpx2.Request(
                request.method,
                request.url,
                headers={"user-agent": USER_AGENT, **request.headers},
                content=request.content,
            )
        )
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
