"""`hango agents`: named configurations."""

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
from cli.output import Column

LIST = (
    Column("ID"),
    Column("NAME", flexible=True),
    Column("MODEL"),
    Column("SHARED"),
    Column("CREATED (UTC)"),
)


@click.group()
def agents() -> None:
    """Named configurations: prompt, model, tools."""


@agents.command("list", cls=ListCommand, example="hango agents list")
@invocation
def list_agents(hango: Invocation, limit: int, every: bool, after: str | None) -> None:
    """List the agents that you may use."""
    page = page_of(hango.api, "v1", "agents", limit=limit, every=every, after=after)
    hango.show(page, _print_list)


@agents.command("show", cls=ApiCommand, example="hango agents show 0199f3a2-…")
@click.argument("agent")
@invocation
def show_agent(hango: Invocation, agent: str) -> None:
    """Show one agent with its system prompt."""
    hango.show(hango.api.get("v1", "agents", agent), _print_agent)


@agents.command(
    "create",
    cls=ApiCommand,
    example='hango agents create --name helper --system-prompt "Be brief."'
    "\nhango agents create --name coder --model claude-sonnet-5-5 --system-file prompt.md",
)
@click.option("--name", required=True, help="For people; need not be unique.")
@click.option("--model", help="The model's id. Default: the server's.")
@click.option("--system-prompt", metavar="TEXT", help="What the agent is told first.")
@click.option(
    "--system-file",
    type=click.File("r", encoding="utf-8"),
    help="A file that holds the system prompt; - is stdin.",
)
@click.option("--max-tokens", type=click.IntRange(min=1), help="Longest answer, in tokens.")
@click.option("--shared", is_flag=True, help="Everyone in the tenant may use it.")
@invocation
def create_agent(hango: Invocation, **given: Any) -> None:
    """Make an agent."""
    file = given.pop("system_file")
    if file and given["system_prompt"] is not None:
        raise click.UsageError("Give --system-prompt or --system-file, not both.")
    if file:
        given["system_prompt"] = file.read()
    body = {name: value for name, value in given.items() if value not in (None, False)}
    hango.show(hango.api.create("v1", "agents", body=body), _print_agent)


@agents.command("delete", cls=ApiCommand, example="hango agents delete 0199f3a2-… --yes")
@click.argument("agent")
@click.option("--yes", is_flag=True, help="Do not ask.")
@invocation
def delete_agent(hango: Invocation, agent: str, yes: bool) -> None:
    """Delete an agent that has no sessions."""
    confirm(f"Delete agent {agent} with its memory and skills?", yes)
    hango.api.delete("v1", "agents", agent)
    hango.show({"deleted": agent}, lambda _: output.line(f"Deleted agent {agent}."))


def _print_list(page: dict[str, Any]) -> None:
    output.table(
        LIST,
        [
            (
                each.get("id"),
                each.get("name"),
                each.get("model"),
                each.get("shared"),
                output.moment(each.get("created_at")),
            )
            for each in page["items"]
        ],
    )
    more(page)


def _print_agent(agent: dict[str, Any]) -> None:
    output.pairs(
        [
            ("id", agent.get("id")),
            ("name", agent.get("name")),
            ("model", agent.get("model")),
            ("max tokens", agent.get("max_tokens")),
            ("shared", agent.get("shared")),
            ("created (UTC)", output.moment(agent.get("created_at"))),
        ]
    )
    prompt = agent.get("system_prompt") or []
    for block in [prompt] if isinstance(prompt, str) else prompt:
        output.line()
        output.lines(block)
