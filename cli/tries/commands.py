"""`hango context try`, `result`, `cancel`, `tries`: the next call without some of its parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from cli import output
from cli.commands import ApiCommand, Invocation, ListCommand, invocation, page_of, session_id
from cli.exits import Stop
from cli.http import Api
from cli.spinner import Spinner
from cli.tries import report, wishes
from cli.waiting import WaitCommand, checked, is_final, show_end, until_final

_OF_MANY = ("--exclude", "--replace")


class TryCommand(WaitCommand):
    """A command whose options take one part or several: --exclude message:5 message:7."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, once each part has the option before it."""
        return super().parse_args(ctx, list(_one_by_one(args)))


@click.command(
    "try",
    cls=TryCommand,
    example="hango context try --session 0199f3a2-… --exclude message:5 tool:execute --wait\n"
    "hango context try --session 0199f3a2-… --replace system:agent=@shorter.md --wait 60\n"
    'hango context try --session 0199f3a2-… --message "And in one word?" --json',
)
@click.option("--session", required=True, metavar="ID", help="The session, or how its id begins.")
@click.option("--exclude", multiple=True, metavar="PART...", help="Leave these parts out.")
@click.option(
    "--replace",
    multiple=True,
    metavar="PART=@FILE|PART=TEXT...",
    help="Put another text in the place of a part; @- is stdin, @@ begins a text with @.",
)
@click.option("--message", metavar="TEXT", help="Say this at the end.")
@click.option(
    "--baseline",
    metavar="TRY",
    help="What `diff --try` compares it with.  [default: the plain call]",
)
@invocation
def try_(
    hango: Invocation, session: str, baseline: str | None, wait: float | None, **wished: Any
) -> None:
    """Make the next model call for real, without some parts or with others in their place.

    The session stays as it is, and so do its saved overrides, which hold here, too, for parts that
    are not named. Prints the try's id at once; with --wait, the answer and what it cost.
    """
    api = hango.api
    found = session_id(api, session)
    body = wishes.body(api, found, **wished)
    if baseline is not None:
        body["baseline"] = baseline
    made = checked(api.create("v1", "sessions", found, "context", "try", body=body))
    if wait is None:
        hango.show(made, report.accepted)
    else:
        _show_end(hango, _waited(api, made, wait), wait)


@click.command(
    "result", cls=WaitCommand, example="hango context result 0199f3a2-…\n"
    "hango context result 0199f3a2-… --wait 120",
)  # fmt: skip
@click.argument("made", metavar="TRY")
@invocation
def result(hango: Invocation, made: str, wait: float | None) -> None:
    """Show a try: where it stands, and its answer when it has ended."""
    api = hango.api
    if wait is None:
        _show_end(hango, checked(api.get("v1", "tries", made)), None)
    else:
        _show_end(hango, _waited(api, {"id": made}, wait), wait)


@click.command("cancel", cls=ApiCommand, example="hango context cancel 0199f3a2-…")
@click.argument("made", metavar="TRY")
@invocation
def cancel(hango: Invocation, made: str) -> None:
    """Cancel a try. One that waits is never called; what was called is paid for."""
    hango.show(hango.api.delete("v1", "tries", made), _print_cancelled)


@click.command("tries", cls=ListCommand, example="hango context tries --session 0199f3a2-…")
@click.option("--session", required=True, metavar="ID", help="The session, or how its id begins.")
@invocation
def tries(hango: Invocation, session: str, **pages: Any) -> None:
    """List a session's tries, newest first."""
    api = hango.api
    found = session_id(api, session)
    hango.show(page_of(api, "v1", "sessions", found, "context", "tries", **pages), report.page)


def _one_by_one(arguments: Sequence[str]) -> Iterator[str]:
    option = ""
    for index, each in enumerate(arguments):
        if each.startswith("-"):
            name = each.partition("=")[0]
            option = name if name in _OF_MANY else ""
        elif option and arguments[index - 1] != option:
            yield option
        yield each


def _waited(api: Api, made: dict[str, Any], seconds: float) -> dict[str, Any]:
    standing = made if "status" in made else None
    try:
        with Spinner() as spinner:
            spinner.turn("waiting for the answer")
            return until_final(api, "v1", "tries", made["id"], seconds=seconds, standing=standing)
    except KeyboardInterrupt:
        raise Stop(f"Try {made['id']} goes on.", _next_steps(made["id"])) from None


def _next_steps(made: str) -> str:
    return f"`hango context result {made} --wait` has its answer, `hango context cancel` stops it."


def _show_end(hango: Invocation, made: dict[str, Any], waited: float | None) -> None:
    show_end(hango, "Try", made, waited=waited, hint=_next_steps(made["id"]), show=report.show)


def _print_cancelled(made: dict[str, Any]) -> None:
    if not is_final(made):
        output.line(f"Try {made['id']} ends in about a second.")
    elif made["status"] == "cancelled":
        output.line(f"Try {made['id']} is cancelled.")
    else:
        output.line(f"Try {made['id']} had ended before: {made['status']}.")
