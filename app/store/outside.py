"""Tools from outside: read by every member of the tenant, written by its admins."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, Table, delete, func, select
from sqlalchemy.dialects.postgresql import insert

from app.domain.jsontext import dumps, loads
from app.domain.outside import (
    HttpTool,
    McpServer,
    OutsideTool,
    named,
    server_name_in,
)
from app.errors import NotFound
from app.store.repository import Repository
from app.store.scope import Scope
from app.store.secrets import Vault, about
from app.store.tables import http_tools, mcp_servers

Headers = Mapping[str, str]

_TOOL = [http_tools.c[name] for name in HttpTool.__struct_fields__]
_SERVER = [mcp_servers.c[name] for name in McpServer.__struct_fields__]


class _Registered(Repository):
    """What both kinds have in common: a name in the tenant, and sealed headers."""

    _table: Table

    def __init__(self, connection: Connection, scope: Scope, vault: Vault) -> None:
        super().__init__(connection, scope)
        self._vault = vault

    def headers(self, name: str) -> dict[str, str]:
        """The headers with their values, to be sent and never to be shown.

        Raises:
            NotFound
            SecretsUnavailable: they cannot be opened.
        """
        sealed = self._one(select(self._table.c.sealed_headers).where(self._is(name)))[0]
        if sealed is None:
            return {}
        opened: dict[str, str] = loads(self._vault.open(sealed, self._about(name)))
        return opened

    def delete(self, name: str) -> None:
        """Raises NotFound, also when the principal is no admin."""
        self._check_admin()
        if not self._connection.execute(delete(self._table).where(self._is(name))).rowcount:
            raise NotFound

    def _put(self, name: str, values: Mapping[str, Any], headers: Headers) -> None:
        self._check_admin()
        sealed = self._vault.seal(dumps(dict(headers)), self._about(name)) if headers else None
        row = {**values, "header_names": list(headers), "sealed_headers": sealed}
        new = insert(self._table).values(tenant_id=self._scope.tenant_id, name=name, **row)
        self._connection.execute(
            new.on_conflict_do_update(
                index_elements=list(self._table.primary_key),
                set_={each: new.excluded[each] for each in row}
                | {
                    "version": self._table.c.version + 1,
                    "updated_at": func.clock_timestamp(),
                },
            )
        )

    def _is(self, name: str) -> Any:
        return self._scope.in_tenant(self._table) & (self._table.c.name == name)

    def _about(self, name: str) -> str:
        return about(self._scope.tenant_id, self._table.name, name)

    def _check_admin(self) -> None:
        if not self._scope.principal.is_admin:
            raise NotFound


class HttpTools(_Registered):
    """The HTTP tools of the principal's tenant."""

    _table = http_tools

    def all(self) -> list[HttpTool]:
        """Every one, by name."""
        found = select(*_TOOL).where(self._scope.in_tenant(http_tools))
        return [_tool(row) for row in self._rows(found.order_by(http_tools.c.name))]

    def named(self, names: Collection[str]) -> list[HttpTool]:
        """Those of these names."""
        mine = self._scope.in_tenant(http_tools)
        found = select(*_TOOL).where(mine, http_tools.c.name.in_(list(names)))
        return [_tool(row) for row in self._rows(found)]

    def get(self, name: str) -> HttpTool:
        """Raises NotFound."""
        return _tool(self._one(select(*_TOOL).where(self._is(name))))

    def put(self, tool: HttpTool, headers: Headers) -> HttpTool:
        """Write it, new or in the place of the one with its name; its version grows.

        Raises:
            NotFound: the principal is no admin.
            SecretsUnavailable: there are headers, and no key to seal them with.
        """
        fields = ("description", "input_schema", "method", "url", "timeout_seconds")
        self._put(tool.name, {name: getattr(tool, name) for name in fields}, headers)
        return self.get(tool.name)


class McpServers(_Registered):
    """The MCP servers of the principal's tenant."""

    _table = mcp_servers

    def all(self) -> list[McpServer]:
        """Every one, by name."""
        found = select(*_SERVER).where(self._scope.in_tenant(mcp_servers))
        return [_server(row) for row in self._rows(found.order_by(mcp_servers.c.name))]

    def named(self, names: Collection[str]) -> list[McpServer]:
        """Those of these names."""
        mine = self._scope.in_tenant(mcp_servers)
        found = select(*_SERVER).where(mine, mcp_servers.c.name.in_(list(names)))
        return [_server(row) for row in self._rows(found)]

    def get(self, name: str) -> McpServer:
        """Raises NotFound."""
        return _server(self._one(select(*_SERVER).where(self._is(name))))

    def put(self, server: McpServer, headers: Headers) -> McpServer:
        """Write it with its tools, new or in the place of the one with its name.

        Raises:
            NotFound: the principal is no admin.
            SecretsUnavailable: there are headers, and no key to seal them with.
        """
        values = {
            "url": server.url,
            "timeout_seconds": server.timeout_seconds,
            "allowed_tools": server.allowed_tools and list(server.allowed_tools),
            "tools": msgspec.to_builtins(server.tools),
            "left_out": msgspec.to_builtins(server.left_out),
            "listed_at": func.clock_timestamp(),
        }
        self._put(server.name, values, headers)
        return self.get(server.name)


def outside_tools(tools: HttpTools, servers: McpServers, names: Sequence[str]) -> list[OutsideTool]:
    """The registered tools that these names of an agent's mean, in their order."""
    of_servers = {server for name in names if (server := server_name_in(name))}
    others = [name for name in names if server_name_in(name) is None]
    return named(
        names,
        tools.named(others) if others else (),
        servers.named(of_servers) if of_servers else (),
    )


def _tool(row: Row[Any]) -> HttpTool:
    return msgspec.convert(dict(zip(HttpTool.__struct_fields__, row, strict=True)), HttpTool)


def _server(row: Row[Any]) -> McpServer:
    return msgspec.convert(dict(zip(McpServer.__struct_fields__, row, strict=True)), McpServer)
