"""What the commands that speak to the API share: their help, their lists, how they answer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from itertools import islice
from typing import Any

import click

from cli import configuration, output
from cli.exits import Exit, Stop
from cli.http import Api, listed
from cli.options import Given, connection_options, json_option

DEFAULT_TIMEOUT_SECONDS = 60.0
PAGE_ITEMS = 200  # the most that the API gives at once
PREFIX_PAGES = 10
FULL_ID_CHARACTERS = 36


class Invocation:
    """One call of a command: the server it speaks to and the way its answer is printed."""

    def __init__(self, given: Given) -> None:
        self.given = given

    @property
    def api(self) -> Api:
        """The API of the server that the options, variables and files name."""
        given = self.given
        server = configuration.server(given.url, given.key, given.profile)
        return Api(server, given.timeout or DEFAULT_TIMEOUT_SECONDS)

    def show(self, answer: Any, for_people: Callable[[Any], None]) -> None:
        """Print an answer: as one JSON document with --json, else by `for_people`."""
        if self.given.as_json:
            output.document(answer)
            return
        with understood():
            for_people(answer)


@contextmanager
def understood() -> Iterator[None]:
    """Tell an answer of another shape than this version knows from a fault of the CLI."""
    try:
        yield
    except (KeyError, TypeError, AttributeError) as error:
        raise Stop(
            f"The answer has another shape than expected ({error!r}).",
            "Are server and CLI of one version? --json prints what came.",
        ) from error


def invocation(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command its invocation as the first argument."""

    @click.pass_context
    @wraps(command)
    def with_invocation(ctx: click.Context, /, **given: Any) -> None:
        command(Invocation(ctx.ensure_object(Given)), **given)

    return with_invocation


class ApiCommand(click.Command):
    """A command that asks the server. `example` stands in its help, as one would type it."""

    def __init__(self, *args: Any, example: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.example = example
        self.params += [json_option(), *connection_options()]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example as it is, not filled into a paragraph."""
        super().format_epilog(ctx, formatter)
        with formatter.section("Example"):
            for each in self.example.splitlines():
                formatter.write(f"{'':>{formatter.current_indent}}{each}\n")


class ListCommand(ApiCommand):
    """A command that prints a list, page by page or to its end."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        at_least_one = click.IntRange(min=1)
        self.params[:0] = [
            click.Option(
                ["--limit"], type=at_least_one, default=50, show_default=True, help="At most N."
            ),
            click.Option(["--all", "every"], is_flag=True, help="To the end of the list."),
            click.Option(["--after"], metavar="CURSOR", help="Start where a list's `next` points."),
        ]


def page_of(
    api: Api, *segments: str, limit: int, every: bool, after: str | None, **query: object
) -> dict[str, Any]:
    """A list's first `limit` items, or all, as {"items", "next"} over as many pages as needed."""
    items: list[Any] = []
    while every or len(items) < limit:
        size = PAGE_ITEMS if every else min(PAGE_ITEMS, limit - len(items))
        page = listed(api.get(*segments, query={**query, "limit": size, "after": after}))
        items += page["items"]
        after = page["next"]
        if not after:
            break
    return {"items": items, "next": after}


def more(page: dict[str, Any]) -> None:
    """Say that a list goes on, beside the list."""
    if page["next"]:
        output.note("There are more: add --all, or a larger --limit.")


def session_id(api: Api, given: str) -> str:
    """The full id of a session from its id or from the first characters of it.

    Raises:
        Stop: several sessions begin so, none does, or there are too many to look through.
    """
    start = given.lower()
    if len(given) >= FULL_ID_CHARACTERS or not set(start) <= set("0123456789abcdef-") or not start:
        return given
    sessions = api.items("v1", "sessions", query={"nested": "true", "limit": PAGE_ITEMS})
    looked_at = list(islice(sessions, PREFIX_PAGES * PAGE_ITEMS + 1))
    if len(looked_at) > PREFIX_PAGES * PAGE_ITEMS:
        raise Stop("There are too many sessions to look for one.", "Give its full id.", Exit.USAGE)
    return _only(given, {each["id"] for each in looked_at if each["id"].startswith(start)})


def _only(given: str, matches: set[str]) -> str:
    if len(matches) == 1:
        return matches.pop()
    if not matches:
        raise Stop(
            f"No session begins with {given}.", "`hango sessions list` has them.", Exit.NOT_FOUND
        )
    raise Stop(f"{len(matches)} sessions begin with {given}.", "Give more of the id.", Exit.USAGE)


def confirm(question: str, yes: bool) -> None:
    """Ask before something is lost, unless --yes was given.

    Raises:
        Stop: nobody is there to ask.
        click.Abort: the answer is no.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise Stop(f"{question} Nobody is here to answer.", "Add --yes.", Exit.USAGE)
    click.confirm(question, abort=True, err=True)
