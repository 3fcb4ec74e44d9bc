"""Tools from outside: HTTP tools and MCP servers that a tenant's admin has registered."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal

import msgspec

from app.domain.jsontext import dumps

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
MAX_NAME_CHARACTERS = 64  # what every provider takes
MAX_SECONDS = 300
DEFAULT_SECONDS = 30
MCP_PREFIX = "mcp__"

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}", re.ASCII)
# No underscore: the name of an MCP tool shows where its server's name ends.
_SERVER_NAME = re.compile(r"(?=.{1,32}\Z)[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]", re.ASCII)

Kind = Literal["http", "mcp"]


class HttpTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that is one HTTP request. The values of its headers are kept apart, sealed."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    method: str
    url: str
    header_names: tuple[str, ...]
    timeout_seconds: int
    version: int = 1
    created_at: str = ""
    updated_at: str = ""


class ListedTool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool of an MCP server, as it was when the server was asked last."""

    name: str  # the server's
    sent_as: str
    description: str
    input_schema: Mapping[str, Any]  # as it is sent
    sha256: str  # of what the server said, to tell what has changed
    wrapped: bool = False  # its schema is one property of the one that is sent


class LeftOut(msgspec.Struct, frozen=True):
    """A tool of an MCP server that no provider would take."""

    name: str
    reason: str


class McpServer(msgspec.Struct, frozen=True, kw_only=True):
    """An MCP server, with its tools as they were listed last."""

    name: str
    url: str
    header_names: tuple[str, ...]
    timeout_seconds: int
    allowed_tools: tuple[str, ...] | None  # names of the server's; None: all
    tools: tuple[ListedTool, ...]
    left_out: tuple[LeftOut, ...] = ()
    version: int = 1
    listed_at: str = ""
    created_at: str = ""
    updated_at: str = ""

    def offered(self) -> list[ListedTool]:
        """The tools that agents may have."""
        allowed = self.allowed_tools
        return [each for each in self.tools if allowed is None or each.name in allowed]


class OutsideTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool from outside as requests hold it: what is sent, and whom a call goes to."""

    kind: Kind
    source: str  # the name of the HTTP tool, or of the MCP server
    remote_name: str  # what the source calls it
    definition: Mapping[str, Any]
    version: int  # of the source, when this was read
    wrapped: bool = False

    @property
    def name(self) -> str:
        """What the model calls it."""
        return str(self.definition["name"])

    @property
    def origin(self) -> str:
        """Where it comes from, in words."""
        kind = "HTTP tool" if self.kind == "http" else "MCP server"
        return f"{kind} {self.source}, version {self.version}"


def is_tool_name(name: str) -> bool:
    """Whether an HTTP tool may have this name."""
    return bool(_TOOL_NAME.fullmatch(name)) and not name.startswith(MCP_PREFIX)


def is_server_name(name: str) -> bool:
    """Whether an MCP server may have this name."""
    return bool(_SERVER_NAME.fullmatch(name))


def server_name_in(name: str) -> str | None:
    """The MCP server that a name of an agent's tool speaks of; None: it speaks of none."""
    if not name.startswith(MCP_PREFIX):
        return None
    return name.removeprefix(MCP_PREFIX).partition("__")[0]


def all_of(server: str) -> str:
    """The name by which an agent has all tools of an MCP server."""
    return f"{MCP_PREFIX}{server}"


def names_to_send(server: str, names: Sequence[str]) -> list[str]:
    """Unique names that providers take, one for each of a server's tools.

    The same server and names give the same result. What does not fit, or would be another's, ends
    on a part of the hash of its own name.
    """
    plain = [f"{all_of(server)}__{_NOT_IN_A_NAME.sub('_', name)}" for name in names]
    return [
        sent
        if len(sent) <= MAX_NAME_CHARACTERS and plain.count(sent) == 1
        else f"{sent[: MAX_NAME_CHARACTERS - 9]}_{sha256(name.encode()).hexdigest()[:8]}"
        for name, sent in zip(names, plain, strict=True)
    ]


def definition_sha256(description: str, input_schema: Any) -> str:
    """Identifies what a server says about one of its tools."""
    return sha256(dumps([description, input_schema]).encode()).hexdigest()


def as_http(tool: HttpTool) -> OutsideTool:
    """An HTTP tool as requests hold it."""
    return OutsideTool(
        kind="http",
        source=tool.name,
        remote_name=tool.name,
        definition=_definition(tool.name, tool.description, tool.input_schema),
        version=tool.version,
    )


def as_mcp(server: McpServer, tool: ListedTool) -> OutsideTool:
    """A tool of an MCP server as requests hold it."""
    return OutsideTool(
        kind="mcp",
        source=server.name,
        remote_name=tool.name,
        definition=_definition(tool.sent_as, tool.description, tool.input_schema),
        version=server.version,
        wrapped=tool.wrapped,
    )


def named(
    names: Iterable[str], tools: Iterable[HttpTool], servers: Iterable[McpServer]
) -> list[OutsideTool]:
    """Those of the registered tools that are named, in the order of the names, each once."""
    found = {tool.name: [as_http(tool)] for tool in tools}
    for server in servers:
        offered = [as_mcp(server, each) for each in server.offered()]
        found |= {each.name: [each] for each in offered}
        found[all_of(server.name)] = offered
    wanted = (each for name in names for each in found.get(name, ()))
    return list({each.name: each for each in wanted}.values())


def missing(names: Iterable[str], found: Collection[OutsideTool]) -> list[str]:
    """The names that nothing which was found answers to."""
    there = {each.name for each in found}
    there |= {all_of(each.source) for each in found if each.kind == "mcp"}
    return [name for name in names if name not in there]


def _definition(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    about = {"description": description} if description.strip() else {}
    return {"name": name, **about, "input_schema": schema}
