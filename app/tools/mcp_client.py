"""MCP servers over streamable HTTP, by the official client.

One question is one session: connect, ask, leave. Importing `mcp` takes as long as all of hango, so
only a process that asks a server does it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from app.domain.mcp_listing import MAX_TOOLS, ToldTool
from app.domain.text import clean, clean_json
from app.domain.tools import ToolOutcome
from app.errors import Failure, OutsideFailed
from app.tools.bounds import Cancelled, bounded, never
from app.tools.client import OutsideClient
from app.tools.mcp_results import outcome_of
from app.tools.messages import USER_AGENT

if TYPE_CHECKING:
    from mcp import Client

T = TypeVar("T")
Ask = Callable[["Client"], Awaitable[T]]

MAX_ANSWER_BYTES = 16 * 2**20  # of all answers to one question together
MAX_PAGES = 32
NOT_MCP = "The server could not be reached, or did not speak MCP over streamable HTTP as it should."
REFUSED = "The server refused the call: "
MAX_REFUSAL_CHARACTERS = 2000

# These log what goes wrong with its traceback, and with that URLs and contents.
for _name in ("mcp", "client", "mcp.client.streamable_http"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where an MCP server is. `repr` leaves out what may be secret."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    seconds: float  # for one question, connecting included


def list_tools(client: OutsideClient, endpoint: Endpoint) -> list[ToldTool]:
    """What the server says of its tools. Of more than hango takes, some that are too many.

    Raises:
        AddressRefused, OutsideFailed, OutsideTooSlow
    """

    async def ask(session: Client) -> list[ToldTool]:
        told: list[ToldTool] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await session.list_tools(cursor=cursor)
            told += [
                ToldTool(each.name, each.description or "", each.input_schema)
                for each in page.tools
            ]
            cursor = page.next_cursor
            if cursor is None or len(told) > MAX_TOOLS:
                break
        return told[: MAX_TOOLS * 2]

    return _asked(client, endpoint, ask, never)


def call_tool(
    client: OutsideClient,
    endpoint: Endpoint,
    name: str,
    arguments: Mapping[str, Any],
    cancelled: Cancelled = never,
) -> ToolOutcome:
    """What a call of one of the server's tools comes to. `cancelled` is asked twice a second.

    Raises:
        AddressRefused, OutsideFailed, OutsideTooSlow
    """

    async def ask(session: Client) -> ToolOutcome:
        from mcp.shared.exceptions import MCPError  # noqa: PLC0415 (see above)

        try:
            result = await session.call_tool(name, clean_json(arguments))
        except MCPError as error:
            return ToolOutcome(
                REFUSED + clean(error.message[:MAX_REFUSAL_CHARACTERS]), is_error=True
            )
        return outcome_of(result.model_dump(mode="json", by_alias=True, exclude_none=True))

    return _asked(client, endpoint, ask, cancelled)


def _asked(client: OutsideClient, endpoint: Endpoint, ask: Ask[T], cancelled: Cancelled) -> T:
    """What `ask` finds out in a session of its own.

    Raises:
        AddressRefused, OutsideFailed, OutsideTooSlow
    """
    client.reach.check_url(endpoint.url)
    outcome = asyncio.run(_Question(client, endpoint).asked(ask, cancelled))
    if isinstance(outcome, Failure):
        raise outcome
    return outcome


class _Question:
    def __init__(self, client: OutsideClient, endpoint: Endpoint) -> None:
        self._client = client
        self._endpoint = endpoint
        self._failure: Failure | None = None  # what the transport has met with

    async def asked(self, ask: Ask[T], cancelled: Cancelled) -> T | Failure:
        """The answer, or why there is none.

        Given back and not raised: chained to it, the client's own exceptions would be logged.
        """
        # Before the time runs: only a process's first question waits for it.
        import mcp.client.streamable_http  # noqa: F401, PLC0415 (see above)
        from mcp.shared import _otel  # noqa: PLC0415

        from app.telemetry import foreign  # noqa: PLC0415

        _otel._tracer = foreign.no_tracer()
        foreign.leave_trace()
        try:
            return await bounded(self._session(ask), self._endpoint.seconds, cancelled)
        except Failure as failure:
            return self._failure or failure
        except Exception:  # noqa: BLE001 - whatever the client's tasks were stopped by
            return self._failure or OutsideFailed(NOT_MCP)

    async def _session(self, ask: Ask[T]) -> T:
        import httpx2  # noqa: PLC0415 (see above)
        from mcp import Client  # noqa: PLC0415
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415
        from mcp_types import Implementation  # noqa: PLC0415

        from app.tools.transport import CheckedTransport  # noqa: PLC0415

        transport = CheckedTransport(
            self._client.reach,
            self._client.look_up,
            self._client.authorities(),
            MAX_ANSWER_BYTES,
            on_failure=self._note,
        )
        headers = {"user-agent": USER_AGENT, **self._endpoint.headers}
        async with httpx2.AsyncClient(
            transport=transport, headers=headers, trust_env=False, timeout=None
        ) as http:
            connection = streamable_http_client(self._endpoint.url, http_client=http)
            about = Implementation(name="hango", version="1")
            async with Client(connection, client_info=about, cache=None) as session:
                return await ask(session)

    def _note(self, failure: Failure) -> None:
        self._failure = self._failure or failure
