"""Calls of tools from outside, in a run."""

from __future__ import annotations

from app.domain.mcp_listing import WRAPPED
from app.domain.outside import HttpTool, McpServer, OutsideTool
from app.domain.principals import Principal
from app.domain.tools import ToolCall, ToolOutcome
from app.errors import NotFound
from app.store.transaction import Database
from app.tools import http_tools, mcp_client
from app.tools.client import OutsideClient
from app.tools.mcp_client import Endpoint

REMOVED = "This tool was removed after the run began: it can no longer be called."


class OutsideCalls:
    """Calls what the tenant has registered, as it is registered when the call is made.

    What the model was shown is the run's; where the call goes, and with which secrets, is what
    stands in the database now: so a removed tool is not called, and a new secret is used at once.
    """

    def __init__(self, database: Database, principal: Principal, client: OutsideClient) -> None:
        self._database = database
        self._principal = principal
        self._client = client

    def call(self, tool: OutsideTool, call: ToolCall) -> ToolOutcome:
        """Make the call, with no transaction open.

        Raises:
            AddressRefused, OutsideFailed, OutsideTooSlow, SecretsUnavailable
        """
        try:
            found, headers = self._registered(tool)
        except NotFound:
            return ToolOutcome(REMOVED, is_error=True)
        if isinstance(found, HttpTool):
            return http_tools.call(self._client, found, headers, call.input)
        if tool.remote_name not in {each.name for each in found.offered()}:
            return ToolOutcome(REMOVED, is_error=True)
        arguments = call.input.get(WRAPPED) if tool.wrapped else call.input
        if not isinstance(arguments, dict):
            arguments = {} if arguments is None else {WRAPPED: arguments}
        endpoint = Endpoint(found.url, headers, found.timeout_seconds)
        return mcp_client.call_tool(self._client, endpoint, tool.remote_name, arguments)

    def _registered(self, tool: OutsideTool) -> tuple[HttpTool | McpServer, dict[str, str]]:
        """Raises NotFound, SecretsUnavailable."""
        with self._database.reading(self._principal) as tx:
            if tool.kind == "http":
                return tx.http_tools.get(tool.source), tx.http_tools.headers(tool.source)
            return tx.mcp_servers.get(tool.source), tx.mcp_servers.headers(tool.source)
