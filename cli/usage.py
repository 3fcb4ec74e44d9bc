"""`hango usage`: what model calls used and cost."""

from __future__ import annotations

from typing import Any

import click

from cli import output
from cli.commands import ApiCommand, Invocation, invocation
from cli.exits import Stop
from cli.money import dollars
from cli.output import Column

FIGURES = (
    Column("CALLS", right=True),
    Column("INPUT", right=True),
    Column("CACHE READ", right=True),
    Column("CACHE WRITE", right=True),
    Column("OUTPUT", right=True),
    Column("US DOLLARS", right=True),
)


@click.command(
    cls=ApiCommand,
    example="hango usage\n"
    "hango usage --group-by day --from 2026-11-01 --to 2026-11-30\n"
    "hango usage --group-by agent --csv",
)
@click.option(
    "--group-by",
    type=click.Choice(["purpose", "agent", "model", "day"]),
    default="model",
    show_default=True,
    help="What the calls of one row have in common.",
)
@click.option("--from", "since", metavar="DAY", help="From this day (UTC) or moment on.")
@click.option("--to", "until", metavar="DAY", help="To this day's end, or before this moment.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV for a spreadsheet.")
@invocation
def usage(
    hango: Invocation, group_by: str, since: str | None, until: str | None, as_csv: bool
) -> None:
    """Sum up your calls; for an admin, those of the tenant.

    INPUT is the whole input, with what the cache had and took.
    """
    query = {"group_by": group_by, "from": since, "to": until}
    if not as_csv:
        hango.show(hango.api.get("v1", "usage", query=query), _print)
        return
    if hango.given.as_json:
        raise click.UsageError("Give --csv or --json, not both.")
    output.content(_text(hango.api.get("v1", "usage", query={**query, "format": "csv"})))


def _text(answer: Any) -> str:
    if isinstance(answer, str):
        return answer
    raise Stop("The server answers with no CSV.", "Are server and CLI of one version?")


def _print(report: dict[str, Any]) -> None:
    key = Column(report["group_by"].upper(), flexible=True)
    rows = [[_name(each, report["group_by"]), *_figures(each)] for each in report["items"]]
    total = report["total"]
    output.table((key, *FIGURES), [*rows, ["total", *_figures(total)]])
    if total["unpriced_calls"]:
        output.note(
            f"The price of {total['unpriced_calls']:,} calls is not known: it is in no sum."
        )


def _name(row: dict[str, Any], group_by: str) -> str:
    if group_by != "agent":
        return str(row["key"])
    return " ".join(filter(None, (row["key"], row["name"]))) or "deleted agents"


def _figures(row: dict[str, Any]) -> list[object]:
    names = ("calls", "whole_input_tokens", "cache_read_tokens", "cache_write_tokens")
    return [
        *(row[name] for name in names),
        row["output_tokens"],
        dollars(row["cost_micro_dollars"]),
    ]
