"""Ablations for people: what they would cost, how far they are, and their table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cli import answers, output
from cli.money import dollars
from cli.output import Column

TABLE = (
    Column("WITHOUT"),
    Column("TOKENS", right=True),
    Column("LESS", right=True),
    Column("ANSWER", flexible=True),
    Column("US DOLLARS", right=True),
    Column("TRY"),
)
_CHANGES = {"same": "the same", "text": "another text", "tool_calls": "other tool calls"}
EVERYTHING = "(nothing)"


def planned(plan: dict[str, Any]) -> None:
    """Say, beside the result, what would be tried and what that costs."""
    figures = plan["estimate"]
    for row in plan["parts"]:
        output.note(f"  {row['part']}  {_planned(row)}")
    baselines = len(plan["baselines"])
    output.note(f"{figures['tries']} calls of {plan['model']}, {baselines} of them with everything")
    if figures["most"] is not None:
        likely, most = (dollars(figures[each]["micro_dollars"]) for each in ("likely", "most"))
        output.note(f"likely {likely} US dollars, at most {most}")


def accepted(made: dict[str, Any]) -> None:
    """Print the id alone, for the next command."""
    output.line(made["id"])


def progress(made: dict[str, Any]) -> str:
    """How far it is, in a few words."""
    known = made.get("progress") or {}
    return f"{known.get('done', 0)} of {known.get('total', '?')} tries are done"


def show(made: dict[str, Any]) -> None:
    """Print an ablation: its state, its table, and what it cost."""
    output.line(f"ablation {made['id']}  {made['status']}, {progress(made)}", "bold")
    output.table(TABLE, map(_row, [*made["baselines"], *made["parts"]]))
    output.pairs(list(_summary(made)))


def _planned(row: dict[str, Any]) -> str:
    if row["state"] != "waiting":
        return _state(row)
    along = [each["part"] for each in row["added"]]
    return "with " + ", ".join(along) if along else "on its own"


def _row(row: dict[str, Any]) -> tuple[object, ...]:
    tokens, cost = row["tokens"], row["cost"]
    known = tokens["after"] is not None
    return (
        row["part"] or EVERYTHING,
        tokens["after"],
        tokens["before"] - tokens["after"] if known else None,
        _state(row),
        None if cost is None else dollars(cost["micro_dollars"]),
        row["try_id"],
    )


def _state(row: dict[str, Any]) -> str:
    """What there is to say of the answer, or why there is none."""
    if row["state"] == "no_effect":
        return "the request is the same"
    if error := row["error"]:
        return f"{row['state'].replace('_', ' ')}: {error['code']}"
    if row["same_as"]:
        return f"as without {row['same_as']}"
    if row["change"] is None:
        return "to compare with" if row["state"] == "succeeded" else row["state"].replace("_", " ")
    return _difference(row["change"], row["similarity"], row["beyond_noise"])


def _difference(change: str, similarity: float, beyond_noise: bool | None = None) -> str:
    words = _CHANGES.get(change, change)
    if change == "same":
        return words
    of_what = "text " if change == "tool_calls" else ""
    alike = words if similarity == 1 else f"{words}, {of_what}{similarity:.0%} alike"
    return f"{alike}, as by chance" if beyond_noise is False else alike


def _summary(made: dict[str, Any]) -> Iterator[tuple[str, object]]:
    noise = made["noise"]
    if noise is not None:
        yield "by chance", f"two equal calls: {_difference(noise['change'], noise['similarity'])}"
    elif len(made["baselines"]) == 1:
        yield "by chance", "not known: --baselines 2 tells how much answers differ anyway"
    limit = made["max_cost"]
    most = "" if limit is None else f", at most {dollars(limit['micro_dollars'])} were allowed"
    yield "cost", answers.cost(made["cost"]["micro_dollars"]) + most
