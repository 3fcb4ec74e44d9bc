"""What a try is to leave out, replace and add, from the command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from cli.exits import Exit, Stop
from cli.files import text_of
from cli.http import Api
from cli.overrides.snapshots import next_call, parts_of

# Parts named after what somebody chose freely: `=` may stand in their ids.
_FREELY_NAMED = ("system:memory:", "system:injection:", "tool:")


def body(
    api: Api,
    session_id: str,
    exclude: Sequence[str],
    replace: Sequence[str],
    message: str | None,
) -> dict[str, Any]:
    """The request for a try.

    Raises:
        click.UsageError: a replacement names no part, or two are of one part.
        Stop: a file cannot be read.
    """
    replaced: dict[str, str] = {}
    for given in replace:
        part, text = _split(api, session_id, given)
        if part in replaced:
            raise click.UsageError(f"{part} is replaced twice.")
        replaced[part] = _text(text)
    wishes: dict[str, Any] = {"exclude": list(dict.fromkeys(exclude)), "replace": replaced}
    return wishes if message is None else {**wishes, "message": message}


def _split(api: Api, session_id: str, given: str) -> tuple[str, str]:
    part, equals, text = given.partition("=")
    if not equals or not part:
        raise click.UsageError(f"'{given}' is not PART=@FILE or PART=TEXT.")
    if "=" not in text or not part.startswith(_FREELY_NAMED):
        return part, text
    known = parts_of(next_call(api, session_id))
    return next((each for each in _splits(given) if each[0] in known), (part, text))


def _splits(given: str) -> Iterator[tuple[str, str]]:
    """Every way to read it, the longest part first."""
    for at in range(len(given) - 1, 0, -1):
        if given[at] == "=":
            yield given[:at], given[at + 1 :]


def _text(given: str) -> str:
    if given.startswith("@@"):
        return given[1:]
    if not given.startswith("@"):
        return given
    if given == "@":
        raise Stop("There is no file's name behind @.", "@@ is an @ in a text.", Exit.USAGE)
    return text_of(Path(given[1:]))
