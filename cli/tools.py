"""`hango tools`: tools from outside, and which agents have them."""

from __future__ import annotations

import json
from collections.abc import Callable
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
from cli.exits import Exit, Stop
from cli.headers import found, given_text, header_options, wanted_headers
from cli.output import Column

LIST = (Column("NAME"), Column("KIND"), Column("SERVER"), Column("DESCRIPTION", flexible=True))
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


@click.group()
def tools() -> None:
    """Tools from outside, and which agents have them."""


@tools.command("list", cls=ListCommand, example="hango tools list")
@invocation
def list_tools(hango: Invocation, **pages: Any) -> None:
    """List what agents can be given: HTTP tools, and the tools of MCP servers."""
    hango.show(page_of(hango.api, "v1", "tools", **pages), _print_list)


@tools.command("show", cls=ApiCommand, example="hango tools show weather")
@click.argument("name")
@invocation
def show_tool(hango: Invocation, name: str) -> None:
    """Show how an HTTP tool is called. For admins."""
    hango.show(hango.api.get("v1", "tools", name), _print_tool)


@tools.command(
    "set-http",
    cls=ApiCommand,
    example="hango tools set-http weather https://weather.example/now \\\n"
    '    --description "The weather in a city." --schema @weather.json \\\n'
    "    --header Authorization=@token.txt",
)
@click.argument("name")
@click.argument("address", metavar="URL")
@click.option("--description", help="What the model is told. Default for a known one: as it is.")
@click.option(
    "--schema", metavar="JSON", help="JSON Schema of the input, or @FILE. Default: as it is."
)
@click.option("--method", type=click.Choice(METHODS), help="Default: POST, or as it is.")
@click.option("--timeout-seconds", type=click.IntRange(1, 300), help="Default: 30, or as it is.")
@header_options
@invocation
def set_http_tool(  # noqa: PLR0913 (one for each option)
    hango: Invocation,
    name: str,
    address: str,
    schema: str | None,
    headers: list[tuple[str, str]],
    removed: tuple[str, ...],
    **given: Any,
) -> None:
    """Register an HTTP tool, or change one. For admins.

    A call of the model becomes one request: its input is the JSON body, or the query of a GET.
    """
    api = hango.api
    known = found(api, "v1", "tools", name)
    fields = ("description", "method", "timeout_seconds", "input_schema")
    body = {field: known[field] for field in fields} if known else {}
    body |= {field: value for field, value in given.items() if value is not None}
    if schema is not None:
        body["input_schema"] = _schema(given_text(schema))
    if missing := [name for name in ("description", "input_schema") if name not in body]:
        option = {"description": "--description", "input_schema": "--schema"}[missing[0]]
        raise click.UsageError(f"A new tool needs {option}.")
    body |= {"url": address, "headers": wanted_headers(known, headers, removed)}
    hango.show(api.put("v1", "tools", name, body=body).document, _print_tool)


@tools.command("remove", cls=ApiCommand, example="hango tools remove weather --yes")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@invocation
def remove_tool(hango: Invocation, name: str, yes: bool) -> None:
    """Remove an HTTP tool. Agents that have it go on without. For admins."""
    confirm(f"Remove tool {name}?", yes)
    hango.api.delete("v1", "tools", name)
    hango.show({"removed": name}, lambda _: output.line(f"Removed tool {name}."))


@tools.command(
    "give",
    cls=ApiCommand,
    example="hango tools give 0199f3a2-… weather mcp__github"
    "\nhango tools give 0199f3a2-… read_file",
)
@click.argument("agent")
@click.argument("names", nargs=-1, required=True)
@invocation
def give_tools(hango: Invocation, agent: str, names: tuple[str, ...]) -> None:
    """Give an agent tools by name; `mcp__` and a server's name is all of that server's.

    Naming a built-in tool leaves the agent only those built-in tools that it names.
    """
    _changed(hango, agent, lambda had: [*had, *(name for name in names if name not in had)])


@tools.command("take", cls=ApiCommand, example="hango tools take 0199f3a2-… weather")
@click.argument("agent")
@click.argument("names", nargs=-1, required=True)
@invocation
def take_tools(hango: Invocation, agent: str, names: tuple[str, ...]) -> None:
    """Take tools from an agent, by name."""

    def without(had: list[Any]) -> list[Any]:
        if absent := [name for name in names if name not in had]:
            raise Stop(f"The agent does not name {absent[0]}.", exit_code=Exit.NOT_FOUND)
        return [each for each in had if each not in names]

    _changed(hango, agent, without)


def _changed(hango: Invocation, agent: str, change: Callable[[list[Any]], list[Any]]) -> None:
    api = hango.api
    found_agent = api.tagged("v1", "agents", agent)
    body = {"tools": change(list(found_agent.document["tools"]))}
    hango.show(api.change("v1", "agents", agent, body=body, etag=found_agent.etag), _print_agent)


def _schema(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise click.UsageError("--schema is not JSON.") from None


def _print_list(page: dict[str, Any]) -> None:
    rows = [(each["name"], each["kind"], each["server"], each["description"]) for each in
            page["items"]]  # fmt: skip
    output.table(LIST, rows)
    more(page)


def _print_tool(tool: dict[str, Any]) -> None:
    output.pairs(
        [
            ("name", tool["name"]),
            ("calls", f"{tool['method']} {tool['url']}"),
            ("headers set", ", ".join(tool["headers_set"]) or None),
            ("timeout", f"{tool['timeout_seconds']} s"),
            ("version", tool["version"]),
            ("changed (UTC)", output.moment(tool["updated_at"])),
        ]
    )
    output.line()
    output.lines(tool["description"])
    output.lines(json.dumps(tool["input_schema"], ensure_ascii=False, indent=2))


def _print_agent(agent: dict[str, Any]) -> None:
    names = [each if isinstance(each, str) else each.get("name") for each in agent["tools"]]
    output.pairs(
        [("id", agent["id"]), ("name", agent["name"]), ("tools", ", ".join(names) or None)]
    )
