"""`hango quota`: what the tenant may use in a period, and what is left of it."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

import click

from cli import output
from cli.commands import ApiCommand, Invocation, invocation
from cli.money import MICRO, dollars
from cli.output import Column

UNLIMITED = "unlimited"
MEASURES = (
    Column(""),
    Column("LIMIT", right=True),
    Column("USED", right=True),
    Column("RESERVED", right=True),
    Column("LEFT", right=True),
)


def _tokens(value: str) -> int | str:
    return _limit(value)


def _micro_dollars(value: str) -> int | str:
    return _limit(value, MICRO)


def _limit(value: str, parts_of_one: int = 1) -> int | str:
    """A number, told in whole parts of one; or UNLIMITED."""
    if value == UNLIMITED:
        return UNLIMITED
    try:
        parts = Decimal(value) * parts_of_one
    except InvalidOperation:
        parts = Decimal("NaN")
    if not parts.is_finite() or parts < 0 or parts != int(parts):
        raise click.BadParameter(f"'{value}' is no amount. Give a number or '{UNLIMITED}'.")
    return int(parts)


@click.group()
def quota() -> None:
    """What your tenant may use, and what is left."""


@quota.command("show", cls=ApiCommand, example="hango quota show")
@invocation
def show_quota(hango: Invocation) -> None:
    """Show the limits, and what is used, reserved and left."""
    hango.show(hango.api.get("v1", "quota"), _print)


@quota.command(
    "set",
    cls=ApiCommand,
    example="hango quota set --dollars 50 --period month\nhango quota set --tokens unlimited",
)
@click.option("--tokens", type=_tokens, metavar="N", help="Whole input and output; or unlimited.")
@click.option("--dollars", type=_micro_dollars, metavar="N", help="US dollars; or unlimited.")
@click.option("--period", type=click.Choice(["day", "month"]), help="How long it lasts.")
@invocation
def set_quota(hango: Invocation, **given: int | str | None) -> None:
    """Set limits; what is not given stays. For admins."""
    if all(value is None for value in given.values()):
        raise click.UsageError("Give --tokens, --dollars or --period.")
    api = hango.api
    before = api.get("v1", "quota")
    wanted = {**before["limits"], "period": before["period"]}
    for option, name in (("tokens", "tokens"), ("dollars", "micro_dollars"), ("period", "period")):
        if given[option] is not None:
            wanted[name] = None if given[option] == UNLIMITED else given[option]
    hango.show(api.put("v1", "quota", body=wanted).document, _print)


def _print(standing: dict[str, Any]) -> None:
    output.pairs(
        [
            ("period", standing["period"]),
            ("begins anew (UTC)", output.moment(standing["resets_at"])),
        ]
    )
    output.line()
    output.table(
        MEASURES,
        [
            ["tokens", *_row(standing, "tokens", output.shown)],
            ["US dollars", *_row(standing, "micro_dollars", dollars)],
        ],
    )


def _row(standing: dict[str, Any], measure: str, shown: Any) -> list[str]:
    values = [standing[name][measure] for name in ("limits", "used", "reserved", "left")]
    return [UNLIMITED if value is None else shown(value) for value in values]
