"""`hango context diff --try`: what a try was sent, and answered, differently. For people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from cli import answers, output
from cli.http import Api
from cli.money import dollars
from cli.output import Column

LAYOUT = (
    Column(""),
    Column("PART"),
    Column("CHANGE", flexible=True),
    Column("BEFORE", right=True),
    Column("AFTER", right=True),
    Column("TOKENS", right=True),
)
SIGNS = {"left_out": "-", "gone": "-", "added": "+", "brought_back": "+"}


def compared(api: Api, tries: tuple[str, ...]) -> dict[str, Any]:
    """The comparison of two tries, or of one with what it names as its baseline."""
    *before, after = tries
    other = {"with": before[0]} if before else None
    answer: dict[str, Any] = api.get("v1", "tries", after, "diff", query=other)
    return answer


def show(diff: dict[str, Any]) -> None:
    """Print what differs: the requests part by part, then the answers."""
    before, after = diff["before"], diff["after"]
    output.line(f"from {_named(before)} to {_named(after)}", "bold")
    if diff["request"] is None:
        output.line("nothing to compare: one of them has not called the model")
    else:
        _show_request(diff["request"])
    output.line()
    if diff["answer"] is None:
        _show_missing(before, after)
    else:
        _show_answers(diff["answer"])
    if figures := list(_figures(before, after)):
        output.line()
        output.pairs(figures)


def _named(side: dict[str, Any]) -> str:
    return "the plain request" if side["try_id"] is None else f"try {side['try_id']}"


def _show_request(request: dict[str, Any]) -> None:
    if request["parts"]:
        head, *rows = output.laid_out(LAYOUT, map(_row, request["parts"]), output.terminal_width())
        output.raw(head, "dim")
        for row in rows:
            output.raw(row)
    parts = "part is" if request["unchanged"] == 1 else "parts are"
    output.line(f"{request['unchanged']:,} {parts} the same")
    if request["before_model"] != request["after_model"]:
        output.line(f"model  {request['before_model']} → {request['after_model']}")
    for each in request["parameters"]:
        output.line(f"{each['name']}  {_json(each['before'])} → {_json(each['after'])}")
    tokens = request["tokens"]
    difference = _signed(tokens["after"] - tokens["before"])
    output.line(f"total  {tokens['before']:,} → {tokens['after']:,} tokens ({difference})")


def _row(change: dict[str, Any]) -> tuple[object, ...]:
    tokens = change["tokens"]
    return (
        SIGNS.get(change["change"], "~"),
        change["part"],
        change["change"].replace("_", " "),
        tokens["before"],
        tokens["after"],
        _signed(tokens["after"] - tokens["before"]),
    )


def _show_missing(*sides: dict[str, Any]) -> None:
    for side in sides:
        if side["missing"]:
            output.line(f"no answer of {_named(side)}: {side['missing']['message']}")


def _show_answers(answer: dict[str, Any]) -> None:
    calls = answer["tool_calls"]
    if answer["change"] == "same":
        output.line("the answers are the same")
        return
    calls_differ = "other tool calls, text " if answer["change"] == "tool_calls" else ""
    output.line(f"answers, {calls_differ}{answer['similarity']:.0%} alike", "bold")
    output.lines("".join(map(_marked, answer["text"])))
    for sign, side in (("-", "before"), ("+", "after")):
        for call in calls[side]:
            output.line(f"{sign} {call['name']} {_json(call['input'])}")


def _marked(hunk: dict[str, Any]) -> str:
    """As wdiff does it, so that it can be read without colours, too."""
    if hunk["op"] == "equal":
        return str(hunk["after"])
    gone = f"[-{hunk['before']}-]" if hunk["before"] else ""
    return gone + (f"{{+{hunk['after']}+}}" if hunk["after"] else "")


def _figures(before: dict[str, Any], after: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What both sides have, side by side; nothing of a side that was not called."""
    sides = [each for each in (before, after) if each["usage"] or each["stop_reason"]]
    if not sides:
        return
    yield "stop reason", " → ".join(output.shown(each["stop_reason"]) for each in sides)
    yield "usage", " → ".join(answers.tokens(each["usage"]) for each in sides)
    yield "US dollars", " → ".join(_cost(each) for each in sides)
    yield "latency", " → ".join(_latency(each) for each in sides)


def _cost(side: dict[str, Any]) -> str:
    return "not known" if side["cost"] is None else dollars(side["cost"]["micro_dollars"])


def _latency(side: dict[str, Any]) -> str:
    known = side["latency_ms"]
    return "not known" if known is None else f"{known / 1000:.1f} s"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _signed(tokens: int) -> str:
    return f"{tokens:+,}" if tokens else "0"
