"""`hango context ablate` and `ablation`: the same call without each of some parts in turn."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import click

from cli.commands import Invocation, confirm, invocation, session_id
from cli.exits import Exit, Stop
from cli.http import Api
from cli.money import MICRO, dollars
from cli.spinner import Spinner
from cli.tries import ablation_report as report
from cli.tries import wishes
from cli.waiting import WaitCommand, checked, is_final, show_end, until_final

LOOKS_EVERY = 2.0  # seconds, where somebody watches the progress


class Dollars(click.ParamType[int]):
    """An amount of US dollars, kept in millionths."""

    name = "dollars"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The amount in micro-dollars."""
        try:
            amount = Decimal(value) * MICRO
        except InvalidOperation:
            amount = Decimal("NaN")
        if not amount.is_finite() or amount < 0 or amount != amount.to_integral_value():
            self.fail(f"'{value}' is no amount of dollars: 0.25, at most six places.", param, ctx)
        return int(amount)


@click.command(
    "ablate",
    cls=WaitCommand,
    example="hango context ablate --session 0199f3a2-… message:5 tool:execute --wait\n"
    "hango context ablate --session 0199f3a2-… system:skills --max-cost 0.25 --wait 300\n"
    'hango context ablate --session 0199f3a2-… message:5 --message "And now?" --yes --json',
)
@click.argument("parts", nargs=-1, required=True, metavar="PART...")
@click.option("--session", required=True, metavar="ID", help="The session, or how its id begins.")
@click.option("--exclude", multiple=True, metavar="PART", help="Leave this out of every try.")
@click.option(
    "--replace",
    multiple=True,
    metavar="PART=@FILE|PART=TEXT",
    help="In every try, put another text in the place of a part.",
)
@click.option("--message", metavar="TEXT", help="Say this at the end of every try.")
@click.option(
    "--baselines",
    type=click.IntRange(1, 5),
    help="How often the call with everything is made: answers differ by chance.  [default: 2]",
)
@click.option("--max-cost", type=Dollars(), metavar="DOLLARS", help="Never spend more than this.")
@click.option("--yes", is_flag=True, help="Do not ask: spend what it takes at most.")
@invocation
def ablate(  # noqa: PLR0913 (one for each option)
    hango: Invocation,
    parts: tuple[str, ...],
    session: str,
    baselines: int | None,
    max_cost: int | None,
    yes: bool,
    wait: float | None,
    **wished: Any,
) -> None:
    """Make the next call without each of these parts in turn, and see what the answer hangs on.

    Says first what that costs, and asks. The session stays as it is. Prints the ablation's id at
    once; with --wait, a table: each part, what it costs, and how the answer differs without it.
    """
    api = hango.api
    path = ("v1", "sessions", session_id(api, session), "context", "ablations")
    body = {"parts": list(parts), **wishes.body(api, path[2], **wished)}
    if baselines is not None:
        body["baselines"] = baselines
    allowed = max_cost if max_cost is not None else _confirmed(api, path, body, yes=yes)
    limit = None if allowed is None else {"micro_dollars": allowed}
    made = checked(api.create(*path, body={**body, "max_cost": limit}))
    if wait is None:
        hango.show(made, report.accepted)
    else:
        _show_end(hango, _followed(api, made, wait), wait)


@click.command(
    "ablation",
    cls=WaitCommand,
    example="hango context ablation 0199f3a2-…\n"
    "hango context ablation 0199f3a2-… --wait 300\n"
    "hango context ablation 0199f3a2-… --cancel",
)
@click.argument("made", metavar="ABLATION")
@click.option("--cancel", is_flag=True, help="Start no more tries, and cancel those that run.")
@invocation
def ablation(hango: Invocation, made: str, cancel: bool, wait: float | None) -> None:
    """Show an ablation: how far it is, and its table."""
    api, path = hango.api, ("v1", "ablations", made)
    standing = checked(api.delete(*path) if cancel else api.get(*path))
    if cancel and wait is None:
        hango.show(standing, report.show)
        return
    _show_end(hango, standing if wait is None else _followed(api, standing, wait), wait)


def _confirmed(api: Api, path: Sequence[str], body: dict[str, Any], *, yes: bool) -> int | None:
    """What may be spent, in micro-dollars, as somebody has agreed to; None: without a limit.

    Raises:
        Stop: nobody is there to ask.
        click.Abort: the answer is no.
    """
    plan = api.create(*path, "preview", body=body)
    most = plan["estimate"]["most"]
    if not yes and sys.stdin.isatty():
        report.planned(plan)
    if most is None:
        confirm("No price is known for this model. Go on without a limit?", yes)
        return None
    if not yes and not sys.stdin.isatty():
        what = f"This can cost {dollars(most['micro_dollars'])} US dollars, and nobody is here."
        raise Stop(what, "Add --max-cost DOLLARS, or --yes.", Exit.USAGE)
    confirm(f"Spend up to {dollars(most['micro_dollars'])} US dollars?", yes)
    return int(most["micro_dollars"])


def _followed(api: Api, made: dict[str, Any], seconds: float) -> dict[str, Any]:
    """The ablation when it has ended, or the time is up; its progress is told meanwhile."""
    left, standing = seconds, made
    try:
        with Spinner() as spinner:
            while True:
                spinner.turn(report.progress(standing))
                step = min(left, LOOKS_EVERY) if sys.stderr.isatty() else left
                standing = until_final(
                    api, "v1", "ablations", made["id"], seconds=step, standing=standing
                )
                left -= step
                if is_final(standing) or left <= 0:
                    return standing
    except KeyboardInterrupt:
        raise Stop(f"Ablation {made['id']} goes on.", _next_steps(made["id"])) from None


def _show_end(hango: Invocation, made: dict[str, Any], waited: float | None) -> None:
    show_end(hango, "Ablation", made, waited=waited, hint=_next_steps(made["id"]), show=report.show)


def _next_steps(made: str) -> str:
    return (
        f"`hango context ablation {made} --wait` has its table, "
        f"`hango context ablation {made} --cancel` stops it."
    )
