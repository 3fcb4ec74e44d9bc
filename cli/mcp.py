"""`hango mcp`: MCP servers whose tools agents can have."""

from __future__ import annotations

from typing import Any

import click

from cli import output
from cli.commands import (
    ApiCommand,
    Invocation,
    ListCommand,
    confirm,
    invocation,
    more,
    page_of,
)
from cli.headers import found, header_options, wanted_headers
from cli.output import Column

LIST = (
    Column("NAME"),
    Column("TOOLS", right=True),
    Column("LISTED (UTC)"),
    Column("URL", flexible=True),
)
TOOLS = (Column("TOOL"), Column("DESCRIPTION", flexible=True))


@click.group()
def mcp() -> None:
    """MCP servers whose tools agents can have. For admins."""


@mcp.command("list", cls=ListCommand, example="hango mcp list")
@invocation
def list_servers(hango: Invocation, **pages: Any) -> None:
    """List the MCP servers that are registered."""
    hango.show(page_of(hango.api, "v1", "mcp-servers", **pages), _print_list)


@mcp.command("show", cls=ApiCommand, example="hango mcp show github")
@click.argument("name")
@invocation
def show_server(hango: Invocation, name: str) -> None:
    """Show a server with its tools, as it listed them last."""
    hango.show(hango.api.get("v1", "mcp-servers", name), _print_server)


@mcp.command(
    "add",
    cls=ApiCommand,
    example="hango mcp add github https://mcp.example/mcp --header Authorization=@token.txt"
    "\nhango mcp add github https://mcp.example/mcp --allow get_issue --allow list_issues",
)
@click.argument("name")
@click.argument("address", metavar="URL")
@click.option("--allow", "allowed", metavar="TOOL", multiple=True, help="Only these tools.")
@click.option("--timeout-seconds", type=click.IntRange(1, 300), default=30, show_default=True)
@header_options
@invocation
def add_server(  # noqa: PLR0913 (one for each option)
    hango: Invocation,
    name: str,
    address: str,
    allowed: tuple[str, ...],
    timeout_seconds: int,
    headers: list[tuple[str, str]],
    removed: tuple[str, ...],
) -> None:
    """Register a server, or change one. It is asked for its tools at once."""
    api = hango.api
    known = found(api, "v1", "mcp-servers", name)
    body = {
        "url": address,
        "headers": wanted_headers(known, headers, removed),
        "timeout_seconds": timeout_seconds,
        "allowed_tools": list(allowed) or None,
    }
    hango.show(api.put("v1", "mcp-servers", name, body=body).document, _print_stored)


@mcp.command("refresh", cls=ApiCommand, example="hango mcp refresh github")
@click.argument("name")
@invocation
def refresh_server(hango: Invocation, name: str) -> None:
    """Ask a server for its tools again, and say what is different."""
    hango.show(hango.api.ask("v1", "mcp-servers", name, "refresh", body={}), _print_stored)


@mcp.command("remove", cls=ApiCommand, example="hango mcp remove github --yes")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@invocation
def remove_server(hango: Invocation, name: str, yes: bool) -> None:
    """Remove a server. Agents that have its tools go on without."""
    confirm(f"Remove MCP server {name}?", yes)
    hango.api.delete("v1", "mcp-servers", name)
    hango.show({"removed": name}, lambda _: output.line(f"Removed MCP server {name}."))


def _offered(server: dict[str, Any]) -> list[dict[str, Any]]:
    allowed = server["allowed_tools"]
    return [each for each in server["tools"] if allowed is None or each["name"] in allowed]


def _print_list(page: dict[str, Any]) -> None:
    rows = [
        (each["name"], len(_offered(each)), output.moment(each["listed_at"]), each["url"])
        for each in page["items"]
    ]
    output.table(LIST, rows)
    more(page)


def _print_stored(stored: dict[str, Any]) -> None:
    _print_server(stored["server"])
    for kind, names in stored["changes"].items():
        if names:
            output.note(f"{kind}: {', '.join(names)}")


def _print_server(server: dict[str, Any]) -> None:
    output.pairs(
        [
            ("name", server["name"]),
            ("url", server["url"]),
            ("headers set", ", ".join(server["headers_set"]) or None),
            ("timeout", f"{server['timeout_seconds']} s"),
            ("version", server["version"]),
            ("listed (UTC)", output.moment(server["listed_at"])),
        ]
    )
    output.line()
    output.table(TOOLS, [(each["sent_as"], each["description"]) for each in _offered(server)])
    for each in server["left_out"]:
        output.note(f"left out: {each['name']}: {each['reason']}")
