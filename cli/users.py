"""`hango users`: people in the tenant, for its admins."""

from __future__ import annotations

from typing import Any

import click

from cli import output
from cli.commands import ApiCommand, Invocation, ListCommand, invocation, more, page_of
from cli.output import Column

LIST = (
    Column("ID"),
    Column("NAME", flexible=True),
    Column("ROLE"),
    Column("CREATED (UTC)"),
    Column("DISABLED (UTC)"),
)


@click.group()
def users() -> None:
    """People in your tenant. For admins."""


@users.command("list", cls=ListCommand, example="hango users list")
@invocation
def list_users(hango: Invocation, **pages: Any) -> None:
    """List the users of the tenant."""
    hango.show(page_of(hango.api, "v1", "users", **pages), _print_list)


@users.command("create", cls=ApiCommand, example="hango users create --name zoe --role member")
@click.option("--name", required=True, help="Unique in the tenant.")
@click.option("--role", type=click.Choice(["member", "admin"]), default="member", show_default=True)
@invocation
def create_user(hango: Invocation, name: str, role: str) -> None:
    """Make a user. It can do nothing until `hango keys create --user` gives it a key."""
    hango.show(hango.api.create("v1", "users", body={"name": name, "role": role}), _print_user)


@users.command("disable", cls=ApiCommand, example="hango users disable 0199f3a2-…")
@click.argument("user")
@click.option("--undo", is_flag=True, help="Let the user in again.")
@invocation
def disable_user(hango: Invocation, user: str, undo: bool) -> None:
    """Shut a user out: all its keys are refused until it is let in again."""
    hango.show(hango.api.change("v1", "users", user, body={"disabled": not undo}), _print_user)


def _print_list(page: dict[str, Any]) -> None:
    output.table(
        LIST,
        [
            (
                each["id"],
                each["name"],
                each["role"],
                output.moment(each["created_at"]),
                output.moment(each["disabled_at"]),
            )
            for each in page["items"]
        ],
    )
    more(page)


def _print_user(user: dict[str, Any]) -> None:
    output.pairs(
        [
            ("id", user["id"]),
            ("name", user["name"]),
            ("role", user["role"]),
            ("created (UTC)", output.moment(user["created_at"])),
            ("disabled (UTC)", output.moment(user["disabled_at"])),
        ]
    )
