"""`hango context`: what the next model call of a session will send, part by part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from cli import output
from cli.commands import ApiCommand, Invocation, invocation, session_id
from cli.output import Column
from cli.overrides.commands import clear, exclude, include, replace
from cli.overrides.diff import diff
from cli.overrides.history import history, restore
from cli.overrides.snapshots import GROUPS
from cli.tries.ablate import ablate, ablation
from cli.tries.commands import cancel, result, tries, try_

LAYOUT = (
    Column(""),
    Column("PART"),
    Column("LABEL"),
    Column("PREVIEW", flexible=True),
    Column("TOKENS", right=True),
    Column("FLAGS"),
)
MARKS = {
    "cached_prefix": "cached",
    "stale": "stale",
    "synthetic": "synthetic",
    "compacted": "compacted",
    "truncated": "truncated",
    "base_changed": "original changed",
    "thinking_dropped": "thinking dropped",
    "rough": "rough count",
    "unavailable": "unavailable",
}


@click.group()
def context() -> None:
    """See what the next model call will send."""


@context.command(
    "show",
    cls=ApiCommand,
    example="hango context show --session 0199f3a2-…\n"
    "hango context show --session 0199f3a2-… --full system:memory:/memories/AGENTS.md | less",
)
@click.option("--session", required=True, metavar="ID", help="The session, or how its id begins.")
@click.option("--full", metavar="PART", help="Print the whole text of this part.")
@click.option("--before", is_flag=True, help="With --full: as it was before an override.")
@click.option(
    "--messages-limit", type=click.IntRange(min=1), help="Only the newest N messages; totals stay."
)
@click.option(
    "--messages-before", type=click.IntRange(min=1), metavar="SEQ", help="Only messages before it."
)
@click.option(
    "--injections", flag_value="1", help="Gather injections too: servers outside hear of it."
)
@click.option("--count", flag_value="provider", help="Ask the provider for its own count, too.")
@invocation
def show(
    hango: Invocation,
    session: str,
    full: str | None,
    before: bool,
    **asked: int | str | None,
) -> None:
    """Show what the next model call of a session will send, and what each part costs.

    Nothing is sent or stored. With --full, a part's text is printed: to a pipe as it is, to a
    terminal with control characters made visible.
    """
    if before and full is None:
        raise click.UsageError("--before goes with --full PART.")
    api = hango.api
    query = {"full": full, "view": "before" if before else None, **asked}
    found = session_id(api, session)
    answer = api.get("v1", "sessions", found, "context", query=query)
    hango.show(answer, _print_part if full is not None else _print_snapshot)


def _print_part(answer: dict[str, Any]) -> None:
    output.content(answer["text"])


def _print_snapshot(snapshot: dict[str, Any]) -> None:
    groups = [(name, snapshot["groups"][name]) for name in GROUPS]
    parts = [part for _, group in groups for part in group["parts"]]
    head, *rows = output.laid_out(LAYOUT, map(_row, parts), output.terminal_width())
    marked = zip(parts, rows, strict=True)
    output.line(f"{snapshot['model']}  session {snapshot['session_id']}", "bold")
    output.raw(head, "dim")
    for name, group in groups:
        output.line(_heading(name, group), "bold")
        for _ in group["parts"]:
            part, row = next(marked)
            output.raw(row, None if part["included"] else "dim")
    output.line()
    output.pairs(list(_totals(snapshot)))
    for warning in _warnings(snapshot):
        output.line(f"! {warning}", "yellow")


def _row(part: dict[str, Any]) -> tuple[object, ...]:
    box = "[x]" if part["included"] else "[ ]"
    return box, part["id"], part["label"], part["preview"], part["tokens"], ", ".join(_flags(part))


def _flags(part: dict[str, Any]) -> Iterator[str]:
    if part["override"] == "exclude":
        yield "excluded"
    elif part["override"] == "replace":
        yield f"replaced{_shrinking(part)}"
    for mark, name in MARKS.items():
        if part.get(mark):
            yield name
    if pair := part.get("paired_with"):
        yield f"with {', '.join(pair)}"


def _shrinking(part: dict[str, Any]) -> str:
    before = part.get("tokens_before")
    return "" if before is None else f" {before:,}→{part['tokens']:,}"


def _heading(name: str, group: dict[str, Any]) -> str:
    count = len(group["parts"])
    total = (group.get("page") or {}).get("total", count)
    shown = f"{count:,}" if count == total else f"{count:,} of {total:,}"
    parts = "part" if total == 1 else "parts"
    return f"{name}  {shown} {parts}, {_change(group['tokens'])} tokens"


def _change(tokens: dict[str, Any]) -> str:
    before, after = tokens["before"], tokens["after"]
    return f"{after:,}" if before == after else f"{after:,} (before overrides {before:,})"


def _totals(snapshot: dict[str, Any]) -> Iterator[tuple[str, str]]:
    totals, cache = snapshot["totals"], snapshot["cache"]
    yield "total", f"{_change(totals)} tokens, {totals['framing']:,} of them framing"
    yield "window", _window(totals)
    yield "counted", f"by {_counter(totals)}"
    yield "cache", _cache(cache)


def _window(totals: dict[str, Any]) -> str:
    if totals.get("window") is None:
        return "unknown"
    used = totals["after"] * 100 / totals["window"]
    return (
        f"{totals['after']:,} of {totals['window']:,} used ({used:.1f} %), "
        f"{totals['reserved_output']:,} reserved for the answer, {totals['remaining']:,} remaining"
    )


def _cache(cache: dict[str, Any]) -> str:
    if cache["breakpoint"] is None:
        return "no breakpoint: nothing of this request is kept"
    prefix = f"{cache['prefix_tokens']:,} tokens up to {cache['breakpoint']}"
    if cache.get("effective", True):
        return prefix
    return f"{prefix}, too few to be kept: this model needs {cache['minimum_tokens']:,}"


def _counter(totals: dict[str, Any]) -> str:
    rough = ", roughly: some part's count is a bound" if totals.get("rough") else ""
    estimate = f"estimate ({totals['estimator']}){rough}"
    if exact := totals.get("provider_tokens"):
        off = (totals["after"] - exact) * 100 / exact
        return f"the provider: {exact:,} tokens, and by {estimate}, which is {off:+.1f} % off"
    missing = totals.get("not_counted")
    return f"{estimate}; not by the provider: {missing}" if missing else estimate


def _warnings(snapshot: dict[str, Any]) -> Iterator[str]:
    totals = snapshot["totals"]
    page = snapshot["groups"]["messages"].get("page")
    if snapshot.get("sendable") is False:
        yield "There is no message to send yet: append one with `hango messages append`."
    if snapshot["would_compact"]:
        yield "The next call would first compact older messages into a summary."
    if (totals.get("remaining") or 0) < 0:
        yield f"The request is {-totals['remaining']:,} tokens too long for the window."
    if missing := snapshot.get("missing_tools"):
        yield f"not sent, since no such tool is registered any more: {', '.join(missing)}"
    yield from _override_warnings(snapshot["overrides"])
    if snapshot.get("model_known") is False:
        yield f"{snapshot['model']} is not in the catalogue: its limits are cautious guesses."
    if not snapshot.get("transparent", True):
        yield "Injections were gathered for this answer."
    yield from _injection_warnings(snapshot.get("injections") or [])
    if page and page.get("before"):
        yield f"Older messages: add --messages-before {page['before']}."


def _injection_warnings(injections: list[dict[str, Any]]) -> Iterator[str]:
    unseen = [each["name"] for each in injections if each["state"] == "not_gathered"]
    if unseen:
        yield f"Not gathered, though the call will be: {', '.join(unseen)}. Add --injections."
    for each in injections:
        if code := each.get("code"):
            what = "failed" if each["state"] == "failed" else "does not bring all"
            yield f"The injection {each['name']} {what}: {code}."


def _override_warnings(overrides: dict[str, Any]) -> Iterator[str]:
    if reason := overrides.get("suspended"):
        at = f" at {overrides['suspended_at']}" if overrides.get("suspended_at") else ""
        yield (
            f"The session's overrides are left out, since they break the request: {reason}{at}. "
            "Change them by include or clear."
        )
    if stale := overrides.get("stale"):
        yield f"{stale} of the overrides are stale: their parts are gone."
    if changed := overrides.get("base_changed"):
        yield f"{changed} of the replaced parts have another original now: look with --before."


for _command in (
    exclude, include, replace, clear, diff, history, restore, try_, result, cancel, tries,
    ablate, ablation,
):  # fmt: skip
    context.add_command(_command)
