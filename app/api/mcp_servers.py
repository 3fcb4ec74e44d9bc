"""/v1/mcp-servers"""

from __future__ import annotations

from typing import Any

from app.api import etags, paging
from app.api.current import reading, runtime, transaction
from app.api.resource import Resource
from app.api.schemas.outside import (
    McpServerListSchema,
    McpServerSchema,
    McpServerWriteSchema,
    StoredServerSchema,
)
from app.api.schemas.pages import PageQuery
from app.domain.outside import McpServer
from app.services import outside_tools
from app.services.outside_tools import StoredServer, WantedServer

blueprint = Resource("mcp_servers", "MCP servers whose tools agents can name.")


@blueprint.get("/mcp-servers")
@blueprint.asks(PageQuery)
@blueprint.gives(200, McpServerListSchema)
def list_mcp_servers(query: dict[str, Any]) -> dict[str, Any]:
    """List the MCP servers by name, each with its tools."""
    with reading() as tx:
        found = tx.mcp_servers.all()
    return paging.sliced(found, query, lambda server: server.name)


@blueprint.get("/mcp-servers/<name>")
@blueprint.gives(200, McpServerSchema)
def get_mcp_server(name: str) -> McpServer:
    """Read an MCP server with its tools, as it listed them last. It is not asked."""
    with reading() as tx:
        return etags.shown(tx.mcp_servers.get(name))


@blueprint.put("/mcp-servers/<name>")
@blueprint.takes(McpServerWriteSchema)
@blueprint.gives(200, StoredServerSchema)
def put_mcp_server(body: dict[str, Any], name: str) -> StoredServer:
    """Register an MCP server. It is asked for its tools at once, and stored only if it answers."""
    with reading() as tx:
        wanted = outside_tools.wanted_server(tx, name, body, runtime().outside.reach)
    return _asked_and_stored(wanted)


@blueprint.post("/mcp-servers/<name>/refresh")
@blueprint.gives(200, StoredServerSchema)
def refresh_mcp_server(name: str) -> StoredServer:
    """Ask an MCP server for its tools again, and say what is different."""
    with reading() as tx:
        wanted = outside_tools.known_server(tx, name)
    return _asked_and_stored(wanted)


@blueprint.delete("/mcp-servers/<name>")
@blueprint.gives(204)
def delete_mcp_server(name: str) -> None:
    """Remove an MCP server. Agents that name its tools go on without them."""
    with transaction() as tx:
        outside_tools.delete_server(tx, name)


def _asked_and_stored(wanted: WantedServer) -> StoredServer:
    # Nothing is open while the server takes its time.
    told = outside_tools.ask(runtime().outside, wanted)
    with transaction() as tx:
        return outside_tools.put_server(tx, wanted, told)
