"""Calls of tools from outside, in a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.domain.mcp_listing import WRAPPED
from app.domain.outside import HttpTool, McpServer, OutsideTool
from app.domain.principals import Principal
from app.domain.tools import ToolCall, ToolOutcome
from app.errors import NotFound
from app.store.transaction import Database
from app.tools import http_tools, mcp_client
from app.tools.bounds import Cancelled, never
from app.tools.client import OutsideClient
from app.tools.mcp_client import Endpoint

HIDDEN = "[hidden]"
SHORTEST_SECRET = 8  # characters; what is shorter would be found everywhere
REMOVED = "This tool was removed after the run began: it can no longer be called."


class OutsideCalls:
    """Calls what the tenant has registered, as it is registered when the call is made.

    What the model was shown is the run's; where the call goes, and with which secrets, is what
    stands in the database now: so a removed tool is not called, and a new secret is used at once.
    """

    def __init__(
        self,
        database: Database,
        principal: Principal,
        client: OutsideClient,
        cancelled: Cancelled = never,
    ) -> None:
        self._database = database
        self._principal = principal
        self._client = client
        self._cancelled = cancelled

    def call(self, tool: OutsideTool, call: ToolCall) -> ToolOutcome:
        """Make the call, with no transaction open.

        Raises:
            AddressRefused, OutsideFailed, OutsideTooSlow, SecretsUnavailable
        """
        try:
            found, headers = self._registered(tool)
        except NotFound:
            return ToolOutcome(REMOVED, is_error=True)
        return without_secrets(self._called(tool, call, found, headers), headers.values())

    def _called(
        self,
        tool: OutsideTool,
        call: ToolCall,
        found: HttpTool | McpServer,
        headers: Mapping[str, str],
    ) -> ToolOutcome:
        if isinstance(found, HttpTool):
            return http_tools.call(self._client, found, headers, call.input, self._cancelled)
        if tool.remote_name not in {each.name for each in found.offered()}:
            return ToolOutcome(REMOVED, is_error=True)
        arguments = call.input.get(WRAPPED) if tool.wrapped else call.input
        if not isinstance(arguments, dict):
            arguments = {} if arguments is None else {WRAPPED: arguments}
        endpoint = Endpoint(found.url, headers, found.timeout_seconds)
        return mcp_client.call_tool(
            self._client, endpoint, tool.remote_name, arguments, self._cancelled
        )

    def _registered(self, tool: OutsideTool) -> tuple[HttpTool | McpServer, dict[str, str]]:
        """Raises NotFound, SecretsUnavailable."""
        with self._database.reading(self._principal) as tx:
            if tool.kind == "http":
                return tx.http_tools.get(tool.source), tx.http_tools.headers(tool.source)
            return tx.mcp_servers.get(tool.source), tx.mcp_servers.headers(tool.source)


def without_secrets(outcome: ToolOutcome, secrets: Iterable[str]) -> ToolOutcome:
    """The outcome of a server that repeats the headers which it was sent, with those hidden.

    A header's last word is hidden too: in `Bearer …` it is the secret.
    """
    words = {word for each in secrets for word in (each, each.rpartition(" ")[2])}
    hidden = sorted((word for word in words if len(word) >= SHORTEST_SECRET), key=len, reverse=True)
    if not hidden:
        return outcome

    def clear(text: str) -> str:
        for word in hidden:
            text = text.replace(word, HIDDEN)
        return text

    if isinstance(outcome.content, str):
        return ToolOutcome(clear(outcome.content), outcome.is_error)
    blocks = [
        {**each, "text": clear(each["text"])} if each["type"] == "text" else each
        for each in outcome.content
    ]
    return ToolOutcome(blocks, outcome.is_error)
