"""Tries for people: what was asked, what the model said, what it took."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from cli import answers, output
from cli.commands import more
from cli.money import dollars
from cli.output import Column
from cli.overrides.report import listed

LIST = (
    Column("ID"),
    Column("STATUS"),
    Column("EXCLUDED", right=True),
    Column("REPLACED", right=True),
    Column("STOP REASON", flexible=True),
    Column("OUTPUT", right=True),
    Column("US DOLLARS", right=True),
    Column("CREATED (UTC)"),
)


def accepted(made: dict[str, Any]) -> None:
    """Print the id alone, for the next command; what went along stands beside it."""
    for partner in made.get("added") or ():
        output.note(f"added {_partner(partner)}")
    output.line(made["id"])


def show(made: dict[str, Any]) -> None:
    """Print a try: its state and, when it has one, its answer."""
    output.line(f"try {made['id']}  {_state(made)}", "bold")
    if wishes := list(_wishes(made)):
        output.pairs(wishes)
    if answer := made.get("answer"):
        output.line()
        answers.show(answer["content"])
        output.line()
    if made.get("usage"):
        output.pairs(list(_taken(made)))


def page(tries: dict[str, Any]) -> None:
    """Print a list of tries."""
    output.table(LIST, map(_row, tries["items"]))
    more(tries)


def _state(made: dict[str, Any]) -> str:
    began, ended = made.get("started_at"), made.get("finished_at")
    if not began or not ended:
        return str(made["status"])
    seconds = (datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds()
    return f"{made['status']} after {seconds:.1f} s"


def _wishes(made: dict[str, Any]) -> Iterator[tuple[str, str]]:
    along = {_name(each) for each in made.get("added") or ()}
    if parts := [part for part in _names(made, "excluded") if part not in along]:
        yield "excluded", listed(parts)
    for partner in made.get("added") or ():
        yield "added", _partner(partner)
    if parts := _names(made, "replaced"):
        yield "replaced", listed(parts)
    if snapshot := made.get("snapshot"):
        totals = snapshot["totals"]
        yield "sent", f"{totals['after']:,} tokens ({totals['before']:,} without overrides)"


def _taken(made: dict[str, Any]) -> Iterator[tuple[str, object]]:
    yield "stop reason", made.get("stop_reason")
    yield "usage", answers.tokens(made["usage"])
    yield "cost", answers.cost(_spent(made))


def _row(made: dict[str, Any]) -> tuple[object, ...]:
    reason = made.get("stop_reason") or (made.get("error") or {}).get("code")
    spent = _spent(made)
    return (
        made["id"],
        made["status"],
        len(_names(made, "excluded")),
        len(_names(made, "replaced")),
        reason,
        (made.get("usage") or {}).get("output_tokens"),
        None if spent is None else dollars(spent),
        output.moment(made.get("created_at")),
    )


def _spent(made: dict[str, Any]) -> int | None:
    """In millionths of a US dollar."""
    cost = made.get("cost")
    return None if cost is None else int(cost["micro_dollars"])


def _names(made: dict[str, Any], field: str) -> list[str]:
    return [_name(each) for each in made.get(field) or ()]


def _name(entry: Any) -> str:
    return str(entry["part"] if isinstance(entry, dict) else entry)


def _partner(entry: Any) -> str:
    if isinstance(entry, dict) and entry.get("goes_with"):
        return f"{entry['part']}, goes with {entry['goes_with']}"
    return _name(entry)
