"""`hango keys`: API keys."""

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
    Column("PREFIX"),
    Column("LAST USED (UTC)"),
    Column("EXPIRES (UTC)"),
    Column("REVOKED (UTC)"),
)


@click.group()
def keys() -> None:
    """API keys."""


@keys.command("list", cls=ListCommand, example="hango keys list")
@invocation
def list_keys(hango: Invocation, **pages: Any) -> None:
    """List your keys; for an admin, those of the tenant."""
    hango.show(page_of(hango.api, "v1", "keys", **pages), _print_list)


@keys.command(
    "create",
    cls=ApiCommand,
    example="hango keys create --name laptop\n"
    "hango keys create --name ci --user 0199f3a2-… --expires 2027-01-01T00:00:00Z",
)
@click.option("--name", required=True, help="For people; need not be unique.")
@click.option("--user", "user_id", metavar="ID", help="Whom it acts as. Default: you.")
@click.option("--expires", "expires_at", metavar="TIME", help="RFC 3339. Default: never.")
@invocation
def create_key(hango: Invocation, **given: str | None) -> None:
    """Make a key. It is shown this once."""
    body = {name: value for name, value in given.items() if value is not None}
    hango.show(hango.api.create("v1", "keys", body=body), _print_new)


@keys.command("revoke", cls=ApiCommand, example="hango keys revoke 0199f3a2-… --yes")
@click.argument("key_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@invocation
def revoke_key(hango: Invocation, key_id: str, yes: bool) -> None:
    """Make a key worthless, at once and for good."""
    confirm(f"Revoke key {key_id} for good?", yes)
    hango.api.delete("v1", "keys", key_id)
    hango.show({"revoked": key_id}, lambda _: output.line(f"Revoked key {key_id}."))


def _print_list(page: dict[str, Any]) -> None:
    output.table(
        LIST,
        [
            (
                each["id"],
                each["name"],
                each["prefix"],
                output.moment(each["last_used_at"]),
                output.moment(each["expires_at"]),
                output.moment(each["revoked_at"]),
            )
            for each in page["items"]
        ],
    )
    more(page)


def _print_new(key: dict[str, Any]) -> None:
    output.pairs(
        [
            ("id", key["id"]),
            ("name", key["name"]),
            ("user", key["user_id"]),
            ("expires (UTC)", output.moment(key["expires_at"])),
            ("key", key["key"]),
        ]
    )
    output.note("The key is shown this once: keep it where nobody else reads it.")
