"""Headers of tools from outside on the command line; their values are best read from files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from cli.files import text_of
from cli.http import Api, Problem

NOT_FOUND = 404


def given_text(value: str) -> str:
    """The value, or with `@` in front the text of that file; `@-` is stdin.

    Raises:
        Stop: the file cannot be read.
    """
    return text_of(Path(value[1:])).rstrip("\r\n") if value.startswith("@") else value


def header_options(command: Callable[..., None]) -> Callable[..., None]:
    """--header and --remove-header."""
    add = click.option(
        "--header",
        "headers",
        metavar="NAME=VALUE",
        multiple=True,
        callback=lambda _ctx, _param, given: [_header(each) for each in given],
        help="Sent with each call, sealed, never shown. VALUE may be @FILE, or @- for stdin.",
    )
    remove = click.option(
        "--remove-header",
        "removed",
        metavar="NAME",
        multiple=True,
        help="No longer send it. Other stored headers stay.",
    )
    return add(remove(command))


def wanted_headers(
    stored: Mapping[str, Any] | None, given: Iterable[tuple[str, str]], removed: Iterable[str]
) -> dict[str, str | None]:
    """The headers of a PUT: those given, and null for those that are to stay as stored."""
    gone = {name.lower() for name in removed}
    named = {name.lower() for name, _ in given} | gone
    kept = [name for name in (stored or {}).get("headers_set", []) if name.lower() not in named]
    return {**dict.fromkeys(kept), **{name: given_text(value) for name, value in given}}


def found(api: Api, *segments: str) -> dict[str, Any] | None:
    """What is at this path; None where nothing is."""
    try:
        answer: dict[str, Any] = api.get(*segments)
    except Problem as problem:
        if problem.status != NOT_FOUND:
            raise
        return None
    return answer


def _header(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not name or not equals:
        # Not quoted: it may be the secret itself.
        raise click.BadParameter("Write NAME=VALUE, or NAME=@FILE.")
    return name, value
