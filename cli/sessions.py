"""`hango sessions`: conversations of an agent."""

from __future__ import annotations

from collections.abc import Iterator
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
    session_id,
)
from cli.output import Column

LIST = (
    Column("ID"),
    Column("TITLE", flexible=True),
    Column("MESSAGES", right=True),
    Column("TOKENS", right=True),
    Column("CHANGED (UTC)"),
)


@click.group()
def sessions() -> None:
    """Conversations."""


@sessions.command("list", cls=ListCommand, example="hango sessions list --agent 0199f3a2-…")
@click.option("--agent", metavar="ID", help="Only sessions of this agent.")
@click.option("--archived", is_flag=True, help="The archived ones instead.")
@click.option("--parent", metavar="ID", help="Those that helpers of this session worked in.")
@invocation
def list_sessions(
    hango: Invocation, agent: str | None, archived: bool, parent: str | None, **pages: Any
) -> None:
    """List your sessions, without those of helpers."""
    query: dict[str, Any] = {"agent_id": agent, "archived": "true" if archived else "false"}
    if parent is not None:
        query["parent"] = session_id(hango.api, parent)
    hango.show(page_of(hango.api, "v1", "sessions", **pages, **query), _print_list)


@sessions.command("show", cls=ApiCommand, example="hango sessions show 0199f3a2-…")
@click.argument("session")
@invocation
def show_session(hango: Invocation, session: str) -> None:
    """Show one session; `hango context show` has what it would send."""
    api = hango.api
    hango.show(api.get("v1", "sessions", session_id(api, session)), _print_session)


@sessions.command(
    "create", cls=ApiCommand, example='hango sessions create --agent 0199f3a2-… --title "Rates"'
)
@click.option("--agent", required=True, metavar="ID", help="The agent that it talks to.")
@click.option("--title", help="For people.")
@invocation
def create_session(hango: Invocation, agent: str, title: str | None) -> None:
    """Start a session of an agent."""
    body = {"agent_id": agent} if title is None else {"agent_id": agent, "title": title}
    hango.show(hango.api.create("v1", "sessions", body=body), _print_session)


@sessions.command(
    "rename", cls=ApiCommand, example='hango sessions rename 0199f3a2-… "Rates of 2026"'
)
@click.argument("session")
@click.argument("title")
@invocation
def rename_session(hango: Invocation, session: str, title: str) -> None:
    """Give a session another title."""
    _change(hango, session, {"title": title})


@sessions.command("archive", cls=ApiCommand, example="hango sessions archive 0199f3a2-…")
@click.argument("session")
@click.option("--undo", is_flag=True, help="Take it out of the archive.")
@invocation
def archive_session(hango: Invocation, session: str, undo: bool) -> None:
    """Put a session away without deleting it."""
    _change(hango, session, {"archived": not undo})


@sessions.command("delete", cls=ApiCommand, example="hango sessions delete 0199f3a2-… --yes")
@click.argument("session")
@click.option("--yes", is_flag=True, help="Do not ask.")
@invocation
def delete_session(hango: Invocation, session: str, yes: bool) -> None:
    """Delete a session with its messages and files."""
    api = hango.api
    found = session_id(api, session)
    confirm(f"Delete session {found} with its messages and files?", yes)
    api.delete("v1", "sessions", found)
    hango.show({"deleted": found}, lambda _: output.line(f"Deleted session {found}."))


def _change(hango: Invocation, session: str, body: dict[str, object]) -> None:
    api = hango.api
    hango.show(api.change("v1", "sessions", session_id(api, session), body=body), _print_session)


def _print_list(page: dict[str, Any]) -> None:
    output.table(
        LIST,
        [
            (
                each.get("id"),
                each.get("title"),
                each.get("message_count"),
                each.get("message_tokens"),
                output.moment(each.get("updated_at")),
            )
            for each in page["items"]
        ],
    )
    more(page)


def _print_session(session: dict[str, Any]) -> None:
    output.pairs(
        [
            ("id", session.get("id")),
            ("title", session.get("title")),
            ("agent", session.get("agent_id")),
            *_origin(session),
            ("messages", session.get("message_count")),
            ("message tokens", session.get("message_tokens")),
            ("archived", session.get("archived")),
            ("created (UTC)", output.moment(session.get("created_at"))),
        ]
    )


def _origin(session: dict[str, Any]) -> Iterator[tuple[str, object]]:
    """Of a session that a run has called for: from where, and who works in it."""
    if helper := session.get("helper"):
        yield "helper", helper["name"]
    if parent := session.get("parent_id"):
        yield "parent session", parent
