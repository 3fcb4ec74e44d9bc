"""/v1/tools"""

from __future__ import annotations

from typing import Any

from app.api import etags, paging
from app.api.current import reading, runtime, transaction
from app.api.resource import Resource
from app.api.schemas.outside import (
    HttpToolSchema,
    HttpToolWriteSchema,
    OutsideToolListSchema,
)
from app.api.schemas.pages import PageQuery
from app.domain.outside import HttpTool
from app.services import outside_tools

blueprint = Resource("tools", "Tools from outside, which agents can name once an admin has them.")


@blueprint.get("/tools")
@blueprint.asks(PageQuery)
@blueprint.gives(200, OutsideToolListSchema)
def list_tools(query: dict[str, Any]) -> dict[str, Any]:
    """List by name what agents can name: HTTP tools, and the tools of MCP servers."""
    with reading() as tx:
        found = outside_tools.everything(tx)
    return paging.sliced(found, query, lambda tool: tool.name)


@blueprint.get("/tools/<name>")
@blueprint.gives(200, HttpToolSchema)
def get_tool(name: str) -> HttpTool:
    """Read how an HTTP tool is called. The values of its headers are not shown."""
    with reading() as tx:
        return etags.shown(tx.http_tools.get(name))


@blueprint.put("/tools/<name>")
@blueprint.takes(HttpToolWriteSchema)
@blueprint.gives(200, HttpToolSchema)
def put_tool(body: dict[str, Any], name: str) -> HttpTool:
    """Register an HTTP tool: a call of the model becomes one request to its URL."""
    with transaction() as tx:
        return etags.shown(outside_tools.put_tool(tx, name, body, runtime().outside.reach))


@blueprint.delete("/tools/<name>")
@blueprint.gives(204)
def delete_tool(name: str) -> None:
    """Remove an HTTP tool. Agents that name it go on without it."""
    with transaction() as tx:
        outside_tools.delete_tool(tx, name)
