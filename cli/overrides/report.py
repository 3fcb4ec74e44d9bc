"""What a change of overrides did or would do, as JSON and for people."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from cli import output
from cli.overrides.edits import Done, as_wishes

MAX_LISTED = 20
MAX_ALTERNATIVES = 3

_LISTS = (("excluded", "excluded"), ("replaced", "replaced"), ("brought_back", "brought back"))


def show(report: dict[str, Any]) -> None:
    """Print the report on a command."""
    if not report["sets"]:
        output.line("Nothing is changed: the overrides are so already.")
    for each in report["sets"]:
        output.line(_heading(each), "bold")
        output.pairs([*_parts(each), *_costs(each), *_cheaper(each, report["session_id"])])
    for part in report["absent"]:
        output.note(f"{part} is not in the next call: its override is stale until it is.")


def of(done: Done) -> dict[str, Any]:
    """One set's part of the report, as JSON."""
    preview, left = done.prepared.preview, done.left
    answer = left.answer if left else preview
    before, after = as_wishes(done.prepared.saved.overrides), as_wishes(answer["overrides"])
    new = {part: wish for part, wish in after.items() if before.get(part) != wish}
    back = [part for part in before if part not in after]
    named = set(done.prepared.edit.named)
    return {
        "target": done.place.kind,
        "id": done.place.id,
        "saved": left is not None,
        "version": answer["version"],
        "excluded": [part for part, wish in new.items() if wish[0] == "exclude"],
        "replaced": [part for part, wish in new.items() if wish[0] == "replace"],
        "brought_back": back,
        "came_along": [part for part in back if named and part not in named],
        "added": answer.get("added") or [],
        # Of an agent's set only the preview, which knows the session, can tell.
        "thinking_dropped": answer.get("thinking_dropped") or preview.get("thinking_dropped") or [],
        "alternatives": answer.get("alternatives") or [],
        "price": preview.get("price"),
        "overrides": answer["overrides"],
    }


def _heading(each: dict[str, Any]) -> str:
    state = f"version {each['version']}" if each["saved"] else "dry run, nothing is saved"
    scope = ", acts on every session of this agent" if each["target"] == "agent" else ""
    return f"{each['target']} {each['id']}  {state}{scope}"


def _parts(each: dict[str, Any]) -> Iterator[tuple[str, str]]:
    along = {partner["part"] for partner in each["added"]} | set(each["came_along"])
    for name, title in _LISTS:
        if parts := [part for part in each[name] if part not in along]:
            yield title, listed(parts)
    if each["came_along"]:
        yield "with it", f"{listed(each['came_along'])}: calls and results go together"
    partners = each["added"][:MAX_LISTED]
    for partner in partners:
        yield "added", _partner(partner)
    if more := len(each["added"]) - len(partners):
        yield "added", f"and {more:,} more"


def _partner(partner: dict[str, Any]) -> str:
    lost = ", and its replacement is given up" if partner.get("replacement_lost") else ""
    return f"{partner['part']}, goes with {partner['goes_with']} (call {partner['call']}){lost}"


def _costs(each: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if each["thinking_dropped"]:
        yield "thinking", f"left out of {listed(each['thinking_dropped'])}"
    price = each["price"] or {}
    yield "saves", _saving(price.get("saved_per_call"))
    yield "re-bills", _rebilling(price.get("prefix_rebilled"), price.get("pays_after_calls"))


def _saving(tokens: int | None) -> str:
    if tokens is None:
        return "not known"
    if tokens < 0:
        return f"nothing: each call gets {-tokens:,} tokens longer"
    return f"{tokens:,} tokens per call"


def _rebilling(tokens: int | None, calls: int | None) -> str:
    if tokens is None:
        return "not known"
    if tokens == 0:
        return "nothing of the cached prefix"
    after = "is never paid back"
    if calls is not None:
        after = f"is paid back after {calls:,} {'call' if calls == 1 else 'calls'}"
    return f"{tokens:,} tokens of the cached prefix once, which {after}"


def _cheaper(each: dict[str, Any], session_id: str) -> Iterator[tuple[str, str]]:
    found = each["alternatives"][:MAX_ALTERNATIVES]
    for alternative in found:
        words = ["hango", "context", "replace", "--session", session_id]
        words += [alternative["part"], "--text", alternative["replacement"]]
        yield "cheaper", f"keep the call, shorten its result: {shlex.join(words)}"
    if more := len(each["alternatives"]) - len(found):
        yield "cheaper", f"and {more:,} more results"


def listed(parts: Iterable[str]) -> str:
    """Part ids in one line; of a great many, the first ones."""
    every = list(parts)
    shown = ", ".join(every[:MAX_LISTED])
    return shown if len(every) <= MAX_LISTED else f"{shown} and {len(every) - MAX_LISTED:,} more"
