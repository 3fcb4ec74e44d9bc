"""`hango messages`: what was said in a session."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from cli import output
from cli.commands import (
    ApiCommand,
    Invocation,
    ListCommand,
    invocation,
    more,
    page_of,
    session_id,
)
from cli.exits import Exit, Stop
from cli.files import text_of
from cli.output import Column

LIST = (
    Column("SEQ", right=True),
    Column("ROLE"),
    Column("PREVIEW", flexible=True),
    Column("TOKENS", right=True),
)


@click.group()
def messages() -> None:
    """What was said in a session."""


@messages.command("list", cls=ListCommand, example="hango messages list --session 0199f3a2-… --all")
@click.option("--session", required=True, metavar="ID", help="The session.")
@invocation
def list_messages(hango: Invocation, session: str, **pages: Any) -> None:
    """List the messages of a session; --json has their whole content."""
    api = hango.api
    page = page_of(api, "v1", "sessions", session_id(api, session), "messages", **pages)
    hango.show(page, _print_list)


@messages.command(
    "append",
    cls=ApiCommand,
    example='hango messages append --session 0199f3a2-… "What did we decide?"\n'
    "hango messages append --session 0199f3a2-… --role assistant --file answer.md\n"
    """echo '[{"role": "user", "content": "Hi"}]' | hango messages append --session 0199f3a2-…""",
)
@click.option("--session", required=True, metavar="ID", help="The session.")
@click.option(
    "--role", type=click.Choice(["user", "assistant", "system"]), default="user", show_default=True
)
@click.option(
    "--file",
    "path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A UTF-8 file that holds the text.",
)
@click.argument("text", required=False)
@invocation
def append_messages(
    hango: Invocation, session: str, role: str, path: Path | None, text: str | None
) -> None:
    """Append messages to a session, without running the agent.

    TEXT or a file becomes one message. With neither, stdin holds JSON: one message, a list of
    them, or {"messages": [...]}. Either all of them are stored or none.
    """
    body = _body(role, path, text)
    api = hango.api
    found = session_id(api, session)
    hango.show(api.create("v1", "sessions", found, "messages", body=body), _print_stored)


def _body(role: str, path: Path | None, text: str | None) -> object:
    if path and text is not None:
        raise click.UsageError("Give TEXT or --file, not both.")
    if path:
        text = text_of(path)
    if text is not None:
        return {"role": role, "content": text}
    if sys.stdin.isatty():
        raise click.UsageError("Give TEXT, --file, or JSON on stdin.")
    return _as_body(sys.stdin.buffer.read())


def _as_body(data: bytes) -> bytes:
    """The request's body from JSON of stdin, as it was written: the server judges it."""
    try:
        listed = isinstance(json.loads(data), list)
    except (ValueError, RecursionError):
        raise Stop("Stdin holds no JSON.", "Give text as an argument.", Exit.USAGE) from None
    return b'{"messages":' + data + b"}" if listed else data


def _print_list(page: dict[str, Any]) -> None:
    _print_messages(page["items"])
    more(page)


def _print_stored(answer: dict[str, Any]) -> None:
    _print_messages(answer["items"])


def _print_messages(stored: list[dict[str, Any]]) -> None:
    rows = [
        (str(each.get("seq")), each.get("role"), each.get("preview"), each.get("tokens"))
        for each in stored
    ]
    output.table(LIST, rows)
