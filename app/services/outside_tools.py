"""Tools from outside as an admin registers them: what is registered is what agents may name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from app.domain.agents import BUILT_IN_TOOLS
from app.domain.audit import Action
from app.domain.jsontext import dumps
from app.domain.mcp_listing import (
    MAX_DEFINITION_BYTES,
    TOO_LARGE,
    Changes,
    ToldTool,
    changes,
    listing,
)
from app.domain.outside import (
    HttpTool,
    McpServer,
    OutsideTool,
    as_http,
    as_mcp,
    is_server_name,
    is_tool_name,
)
from app.domain.text import clean_json
from app.domain.validity import check_tool
from app.errors import BadBody, BadParameter, Fault, NotFound, ToolRefused
from app.store.outside import HttpTools, McpServers
from app.store.transaction import Transaction
from app.tools import mcp_client
from app.tools.addresses import Reach
from app.tools.client import OutsideClient
from app.tools.mcp_client import Endpoint

Headers = Mapping[str, str]

LISTING_SECONDS = 20  # a request waits for it


@dataclass(frozen=True, slots=True)
class WantedServer:
    """An MCP server that is to be asked for its tools, and then stored."""

    server: McpServer  # without tools
    headers: Headers
    before: McpServer | None
    action: Action


@dataclass(frozen=True, slots=True)
class StoredServer:
    """An MCP server that was stored, and how its tools differ from those before."""

    server: McpServer
    changes: Changes


def everything(tx: Transaction) -> list[OutsideTool]:
    """All that agents may name, by name."""
    tools = [as_http(each) for each in tx.http_tools.all()]
    tools += [as_mcp(each, tool) for each in tx.mcp_servers.all() for tool in each.offered()]
    return sorted(tools, key=lambda tool: tool.name)


def put_tool(tx: Transaction, name: str, wanted: Mapping[str, Any], reach: Reach) -> HttpTool:
    """Register an HTTP tool, new or in the place of the one with this name.

    Raises:
        NotFound: the principal is no admin.
        BadParameter, ToolRefused, AddressRefused, BadBody: it could never be sent or called.
        SecretsUnavailable: it has headers, and the deployment has no key.
    """
    if not is_tool_name(name):
        _refuse_name("1 to 64 letters, digits, _ and -, and not `mcp__` at the start.")
    if name in BUILT_IN_TOOLS:
        _refuse_name("A built-in tool has this name.", "name_reserved")
    reach.check_url(wanted["url"])
    headers = _headers(tx.http_tools, name, wanted["headers"])
    tool = HttpTool(
        name=name,
        description=wanted["description"],
        input_schema=clean_json(wanted["input_schema"]),
        method=wanted["method"],
        url=wanted["url"],
        header_names=tuple(headers),
        timeout_seconds=wanted["timeout_seconds"],
    )
    _check_definition(as_http(tool).definition)
    stored = tx.http_tools.put(tool, headers)
    tx.audit.add(Action.TOOL_WRITE, "tool", name, {"version": stored.version})
    return stored


def delete_tool(tx: Transaction, name: str) -> None:
    """Remove an HTTP tool. Agents that name it go on without it. Raises NotFound."""
    tx.http_tools.delete(name)
    tx.audit.add(Action.TOOL_DELETE, "tool", name, {})


def wanted_server(
    tx: Transaction, name: str, wanted: Mapping[str, Any], reach: Reach
) -> WantedServer:
    """The MCP server that a body speaks of.

    Raises:
        BadParameter, AddressRefused, BadBody: it can never be called.
        SecretsUnavailable: headers are kept, and cannot be opened.
    """
    if not is_server_name(name):
        _refuse_name("At most 32 small letters and digits, with single hyphens between them.")
    reach.check_url(wanted["url"])
    headers = _headers(tx.mcp_servers, name, wanted["headers"])
    allowed = wanted["allowed_tools"]
    server = McpServer(
        name=name,
        url=wanted["url"],
        header_names=tuple(headers),
        timeout_seconds=wanted["timeout_seconds"],
        allowed_tools=None if allowed is None else tuple(allowed),
        tools=(),
    )
    before = next(iter(tx.mcp_servers.named([name])), None)
    return WantedServer(server, headers, before, Action.MCP_WRITE)


def known_server(tx: Transaction, name: str) -> WantedServer:
    """A registered MCP server, to be asked again.

    Raises:
        NotFound
        SecretsUnavailable: its headers cannot be opened.
    """
    server = tx.mcp_servers.get(name)
    headers = tx.mcp_servers.headers(name)
    return WantedServer(server, headers, server, Action.MCP_REFRESH)


def ask(client: OutsideClient, wanted: WantedServer) -> list[ToldTool]:
    """Have the server list its tools. No transaction may be open meanwhile.

    Raises:
        AddressRefused, OutsideFailed, OutsideTooSlow
    """
    server = wanted.server
    seconds = min(server.timeout_seconds, LISTING_SECONDS)
    endpoint = Endpoint(server.url, wanted.headers, seconds)
    return mcp_client.list_tools(client, endpoint)


def put_server(tx: Transaction, wanted: WantedServer, told: Sequence[ToldTool]) -> StoredServer:
    """Store a server with the tools that it has told.

    Raises:
        NotFound: the principal is no admin.
        BadBody: it allows tools that the server does not have.
        SecretsUnavailable: it has headers, and the deployment has no key.
    """
    tools, left_out = listing(wanted.server.name, told)
    names = {each.name for each in tools}
    if wanted.action is Action.MCP_WRITE:
        _check_allowed(wanted.server.allowed_tools or (), names)
    server = msgspec.structs.replace(wanted.server, tools=tools, left_out=left_out)
    stored = tx.mcp_servers.put(server, wanted.headers)
    detail = {"version": stored.version, "tools": len(tools)}
    tx.audit.add(wanted.action, "mcp_server", server.name, detail)
    return StoredServer(stored, changes(wanted.before, tools))


def delete_server(tx: Transaction, name: str) -> None:
    """Remove an MCP server. Agents that name its tools go on without. Raises NotFound."""
    tx.mcp_servers.delete(name)
    tx.audit.add(Action.MCP_DELETE, "mcp_server", name, {})


def _headers(
    stored: HttpTools | McpServers, name: str, wanted: Mapping[str, str | None]
) -> dict[str, str]:
    """The headers with their values; those without one keep what is stored.

    Raises:
        BadBody: nothing is stored that could be kept.
        SecretsUnavailable: what is stored cannot be opened.
    """
    if all(value is not None for value in wanted.values()):
        return {header: value for header, value in wanted.items() if value is not None}
    try:
        kept = {each.lower(): value for each, value in stored.headers(name).items()}
    except NotFound:
        kept = {}
    headers: dict[str, str] = {}
    for header, value in wanted.items():
        if value is None and header.lower() not in kept:
            advice = "null keeps the stored value, and there is none: give one."
            raise BadBody(faults=[Fault(f"headers.{header}", "nothing_stored", advice)])
        headers[header] = kept[header.lower()] if value is None else value
    return headers


def _check_definition(definition: Mapping[str, Any]) -> None:
    faults = check_tool(definition, "")
    if faults:
        named = [Fault(each.at.lstrip("."), each.code, each.detail) for each in faults]
        raise ToolRefused(faults=named)
    if len(dumps(definition).encode()) > MAX_DEFINITION_BYTES:
        raise ToolRefused(faults=[Fault("input_schema", "too_large", TOO_LARGE)])


def _check_allowed(allowed: Sequence[str], there: set[str]) -> None:
    faults = [
        Fault(f"allowed_tools[{index}]", "unknown_tool", "The server lists no such tool.")
        for index, name in enumerate(allowed)
        if name not in there
    ]
    if faults:
        raise BadBody(faults=faults)


def _refuse_name(advice: str, code: str = "invalid") -> None:
    raise BadParameter(faults=[Fault("name", code, advice)])
