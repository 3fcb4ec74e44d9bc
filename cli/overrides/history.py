"""`hango context history` and `restore`: the last sets of overrides, and bringing one back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import click

from cli import output
from cli.commands import Invocation, invocation
from cli.output import Column
from cli.overrides import edits, sets
from cli.overrides.changing import Changing, SessionCommand, changing, scene

LAYOUT = (
    Column("VERSION", right=True),
    Column("SAVED (UTC)"),
    Column("BY"),
    Column("EXCLUDED", right=True),
    Column("REPLACED", right=True),
    Column("REASON", flexible=True),
)
AGENT_PARTS = click.option("--agent-parts", is_flag=True, help="The agent's sets instead.")


@click.command(
    "history",
    cls=SessionCommand,
    example="hango context history --session 0199f3a2-…",
)
@AGENT_PARTS
@invocation
def history(hango: Invocation, session: str, agent_parts: bool) -> None:
    """List the last sets of overrides, newest first; --json has what is in them."""
    at = scene(hango.api, session)
    past = sets.history(at.api, at.place(of_agent=agent_parts))
    hango.show(past, _printer(lambda: at.api.get("v1", "me")["user"]["id"]))


@click.command(
    "restore",
    cls=SessionCommand,
    example="hango context restore --session 0199f3a2-… 3",
)
@click.option("--dry-run", is_flag=True, help="Say what it comes to; save nothing.")
@AGENT_PARTS
@click.argument("version", type=click.IntRange(min=1))
@changing
def restore(change: Changing, version: int, agent_parts: bool) -> None:
    """Make one of the last sets the present one again.

    It is checked as if it were new, and becomes a new version.
    """
    place = change.scene.place(of_agent=agent_parts)
    past = sets.past(sets.history(change.scene.api, place), version)
    edit = change.edit(edits.becoming(past["overrides"]), of_agent=agent_parts)
    change.finish([edit._replace(restores=version)])


def _printer(whoever_asks: Callable[[], str]) -> Callable[[dict[str, Any]], None]:
    def show(past: dict[str, Any]) -> None:
        if not past["items"]:
            output.line("No overrides were ever saved.")
            return
        me = whoever_asks()
        output.table(LAYOUT, [_row(each, me) for each in past["items"]])

    return show


def _row(each: dict[str, Any], me: str) -> tuple[object, ...]:
    actions = Counter(override["action"] for override in each["overrides"])
    by = "you" if each["created_by"] == me else each["created_by"]
    counts = actions["exclude"], actions["replace"]
    return each["version"], output.moment(each["created_at"]), by, *counts, each.get("reason") or ""
