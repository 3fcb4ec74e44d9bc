"""`hango context diff`: what one model call has that another has not, part by part."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from cli import output
from cli.commands import ApiCommand, Invocation, invocation, session_id
from cli.exits import Exit
from cli.http import Api, Problem
from cli.output import Column
from cli.overrides import comparison, sets, try_diff
from cli.overrides.comparison import Groups, Row
from cli.overrides.sets import AGENT_KINDS, Place
from cli.overrides.snapshots import GROUPS, Snapshot, from_file, next_call

SESSION_KINDS = ("message", "summary")
MAX_FILES = MAX_TRIES = 2
LAYOUT = (
    Column(""),
    Column("PART"),
    Column("LABEL", flexible=True),
    Column("CHANGE"),
    Column("BEFORE", right=True),
    Column("AFTER", right=True),
    Column("TOKENS", right=True),
)
SIGNS = {"added": "+", "brought back": "+", "left out": "-", "gone": "-"}


class Compared(NamedTuple):
    """Two calls: what they are called, their parts, their totals; None: not known."""

    names: tuple[str, str]
    groups: Groups
    before: int | None
    after: int | None


@click.command(
    "diff",
    cls=ApiCommand,
    example="hango context diff --session 0199f3a2-…\n"
    "hango context diff --session 0199f3a2-… --against 3\n"
    "hango context show --session 0199f3a2-… --json > before.json\n"
    "hango context diff --session 0199f3a2-… --from before.json\n"
    "hango context diff --try 0199f3a2-… --try 0199f3b1-…",
)
@click.option("--session", metavar="ID", help="The session, or how its id begins.")
@click.option(
    "--against",
    type=click.IntRange(min=1),
    metavar="VERSION",
    help="Compare with the next call under an earlier set of overrides.",
)
@click.option("--agent-parts", is_flag=True, help="With --against: a version of the agent's set.")
@click.option(
    "--from",
    "files",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    help="Compare with a snapshot that `show --json` printed; twice: two of them.",
)
@click.option(
    "--try",
    "tries",
    multiple=True,
    metavar="TRY",
    help="Compare a try with its baseline, or with the plain call; twice: two tries, and their "
    "answers, too.",
)
@invocation
def diff(  # noqa: PLR0913 (one for each option)
    hango: Invocation,
    session: str | None,
    against: int | None,
    agent_parts: bool,
    files: tuple[Path, ...],
    tries: tuple[str, ...],
) -> None:
    """Compare the next call with the same call without overrides, or with another one.

    Parts that are the same are folded. Nothing is sent or stored. With --try, compare what was
    sent, and answered, already.
    """
    _check(session, against, agent_parts, files, tries)
    if tries:
        hango.show(try_diff.compared(hango.api, tries), try_diff.show)
        return
    if len(files) == MAX_FILES:
        hango.show(_document(_between(*map(_named, files))), _print)
        return
    api = hango.api
    now = next_call(api, session_id(api, session or ""))
    if files:
        compared = _between(_named(files[0]), ("the next call", now))
    elif against is not None:
        compared = _since(api, now, against, of_agent=agent_parts)
    else:
        totals = now["totals"]
        names = ("without overrides", "the next call")
        groups = comparison.with_and_without_overrides(now)
        compared = Compared(names, groups, totals["before"], totals["after"])
    hango.show(_document(compared), _print)


def _check(
    session: str | None,
    against: int | None,
    agent_parts: bool,
    files: Sequence[Path],
    tries: Sequence[str],
) -> None:
    if len(tries) > MAX_TRIES:
        raise click.UsageError("Give --try once or twice.")
    if tries and (files or against is not None):
        raise click.UsageError("Give --try, --against or --from, not two of them.")
    if len(files) > MAX_FILES:
        raise click.UsageError("Give --from once or twice.")
    if files and against is not None:
        raise click.UsageError("Give --against or --from, not both.")
    if agent_parts and against is None:
        raise click.UsageError("--agent-parts says whose version --against means; give that too.")
    if session is None and not tries and len(files) < MAX_FILES:
        raise click.UsageError("Missing option '--session'.")


def _named(path: Path) -> tuple[str, Snapshot]:
    return str(path), from_file(path)


def _between(first: tuple[str, Snapshot], second: tuple[str, Snapshot]) -> Compared:
    (first_name, old), (second_name, new) = first, second
    if old["session_id"] != new["session_id"]:
        output.note("These are two sessions: messages are compared by their numbers.")
    groups = comparison.between_snapshots(old, new)
    totals = old["totals"]["after"], new["totals"]["after"]
    return Compared((first_name, second_name), groups, *totals)


def _since(api: Api, now: Snapshot, version: int, *, of_agent: bool) -> Compared:
    kind = "agent" if of_agent else "session"
    place = Place(kind, now[f"{kind}_id"], now["session_id"])
    history = sets.history(api, place)
    then = sets.past(history, version)["overrides"]
    groups = comparison.since_set(
        now, then, history["items"][0]["overrides"], AGENT_KINDS if of_agent else SESSION_KINDS
    )
    after = now["totals"]["after"]
    saved = _saved_by(api, place, then)
    before = None if saved is None else after - saved
    return Compared((f"version {version}", "the next call"), groups, before, after)


def _saved_by(api: Api, place: Place, overrides: list[dict[str, Any]]) -> int | None:
    """The tokens that the next call would have less with these; None where it could not be."""
    try:
        price = sets.preview(api, place, overrides).get("price") or {}
    except Problem as problem:
        if problem.exit_code != Exit.USAGE:
            raise
        return None  # messages that came since make this set impossible
    saved: int | None = price.get("saved_per_call")
    return saved


def _document(compared: Compared) -> dict[str, Any]:
    before, after = compared.before, compared.after
    difference = None if before is None or after is None else after - before
    return {
        "from": compared.names[0],
        "to": compared.names[1],
        "groups": {name: _group(compared.groups[name]) for name in GROUPS},
        "totals": {"before": before, "after": after, "difference": difference},
    }


def _group(rows: list[Row]) -> list[dict[str, Any]]:
    return [
        {"unchanged": len(each), "tokens": sum(row.after or 0 for row in each)}
        if isinstance(each, list)
        else {**each._asdict(), "difference": each.difference}
        for each in comparison.folded(rows)
    ]


def _print(document: dict[str, Any]) -> None:
    output.line(f"from {document['from']} to {document['to']}", "bold")
    groups = document["groups"]
    rows = [row for name in GROUPS for row in groups[name]]
    head, *laid_out = output.laid_out(LAYOUT, map(_row, rows), output.terminal_width())
    output.raw(head, "dim")
    lines = iter(laid_out)
    for name in GROUPS:
        output.line(name, "bold")
        for _ in groups[name]:
            output.raw(next(lines))
    totals = document["totals"]
    before, after = output.shown(totals["before"]), output.shown(totals["after"])
    output.line(f"total  {before} → {after} tokens ({_signed(totals['difference'])})")


def _row(row: dict[str, Any]) -> tuple[object, ...]:
    if "unchanged" in row:
        parts = "1 part" if row["unchanged"] == 1 else f"{row['unchanged']:,} parts"
        return "", f"… {parts} unchanged", "", "", row["tokens"], row["tokens"], ""
    sign = SIGNS.get(row["change"], "~")
    difference = _signed(row["difference"])
    return (
        sign, row["part"], row["label"], row["change"], row["before"], row["after"], difference,
    )  # fmt: skip


def _signed(tokens: int | None) -> str:
    return f"{tokens:+,}" if tokens else output.shown(tokens)
