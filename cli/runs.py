"""`hango runs`: what an agent did about a user's message, call by call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from cli import answers, output
from cli.commands import ApiCommand, Invocation, ListCommand, invocation, more, page_of, session_id
from cli.money import dollars
from cli.output import Column
from cli.overrides.report import listed
from cli.waiting import is_final

LIST = (
    Column("ID"),
    Column("STATUS"),
    Column("STOP REASON", flexible=True),
    Column("TURNS", right=True),
    Column("OUTPUT", right=True),
    Column("US DOLLARS", right=True),
    Column("CREATED (UTC)"),
)
CALLS = (
    Column("CALL", right=True),
    Column("PURPOSE"),
    Column("MODEL", flexible=True),
    Column("OUTCOME"),
    Column("INPUT", right=True),
    Column("CACHE READ", right=True),
    Column("CACHE WRITE", right=True),
    Column("OUTPUT", right=True),
    Column("US DOLLARS", right=True),
    Column("MS", right=True),
)
PARTS = (Column(""), Column("PART", flexible=True), Column("TOKENS", right=True), Column("SHA256"))
CHANGES = (
    Column(""),
    Column("PART", flexible=True),
    Column("CHANGE"),
    Column("BEFORE", right=True),
    Column("AFTER", right=True),
)
HASH_CHARACTERS = 12


@click.group()
def runs() -> None:
    """What agents did about messages, call by call."""


@runs.command("list", cls=ListCommand, example="hango runs list --session 0199f3a2-…")
@click.option("--session", required=True, metavar="ID", help="The session, or how its id begins.")
@invocation
def list_runs(hango: Invocation, session: str, **pages: Any) -> None:
    """List a session's runs, newest first."""
    api = hango.api
    page = page_of(api, "v1", "sessions", session_id(api, session), "runs", **pages)
    hango.show(page, _print_list)


@runs.command("show", cls=ApiCommand, example="hango runs show 0199f3a2-…")
@click.argument("run")
@invocation
def show_run(hango: Invocation, run: str) -> None:
    """Show one run: where it stands, what it wrote, what it cost."""
    hango.show(hango.api.get("v1", "runs", run), _print_run)


@runs.command("cancel", cls=ApiCommand, example="hango runs cancel 0199f3a2-…")
@click.argument("run")
@invocation
def cancel_run(hango: Invocation, run: str) -> None:
    """Cancel a run. Turns that are finished stay; what was called is paid for."""
    hango.show(hango.api.delete("v1", "runs", run), _print_cancelled)


@runs.command(
    "calls",
    cls=ApiCommand,
    example="hango runs calls 0199f3a2-…\nhango runs calls 0199f3a2-… 2",
)
@click.argument("run")
@click.argument("number", required=False, metavar="[N]", type=click.IntRange(min=1))
@invocation
def show_calls(hango: Invocation, run: str, number: int | None) -> None:
    """List a run's model calls, or show what call N was sent, part by part."""
    if number is None:
        hango.show(hango.api.get("v1", "runs", run, "calls"), _print_calls)
    else:
        hango.show(hango.api.get("v1", "runs", run, "calls", str(number)), _print_call)


@runs.command("diff", cls=ApiCommand, example="hango runs diff 0199f3a2-… 1 2")
@click.argument("run")
@click.argument("first", metavar="N", type=click.IntRange(min=1))
@click.argument("second", metavar="M", type=click.IntRange(min=1))
@invocation
def diff_calls(hango: Invocation, run: str, first: int, second: int) -> None:
    """Show what call M of a run was sent differently from call N."""
    path = "v1", "runs", run, "calls", str(first), "diff", str(second)
    hango.show(hango.api.get(*path), _print_diff)


def _print_list(page: dict[str, Any]) -> None:
    output.table(LIST, map(_row, page["items"]))
    more(page)


def _row(run: dict[str, Any]) -> tuple[object, ...]:
    usage = run["usage"]
    reason = run["stop_reason"] or (run["error"] or {}).get("code")
    spent = dollars(usage["cost_micro_dollars"])
    created = output.moment(run["created_at"])
    return run["id"], run["status"], reason, run["turns"], usage["output_tokens"], spent, created


def _print_run(run: dict[str, Any]) -> None:
    output.pairs(list(_facts(run)))


def _facts(run: dict[str, Any]) -> Iterator[tuple[str, object]]:
    yield "id", run["id"]
    yield "session", run["session_id"]
    yield "agent", run["agent_id"]
    if parent := run.get("parent_run_id"):
        yield "parent run", parent
    yield "status", run["status"]
    yield "stop reason", run["stop_reason"]
    if error := run["error"]:
        yield "error", f"{error['code']}: {error.get('detail') or 'nothing more is known'}"
    yield "turns", run["turns"]
    yield "messages", listed(map(str, run["messages"])) or None
    yield "calls", run["usage"]["calls"]
    yield "usage", answers.tokens(run["usage"])
    yield "cost", answers.spent(run["usage"])
    with_helpers = run.get("usage_with_helpers") or run["usage"]
    if with_helpers["calls"] > run["usage"]["calls"]:
        yield "calls with helpers", with_helpers["calls"]
        yield "usage with helpers", answers.tokens(with_helpers)
        yield "cost with helpers", answers.spent(with_helpers)
    for name in ("created", "started", "finished"):
        yield f"{name} (UTC)", output.moment(run[f"{name}_at"])


def _print_cancelled(run: dict[str, Any]) -> None:
    if not is_final(run):
        output.line(f"Run {run['id']} ends in about a second.")
    elif run["status"] == "cancelled":
        output.line(f"Run {run['id']} is cancelled.")
    else:
        output.line(f"Run {run['id']} had ended before: {run['status']}.")


def _print_calls(answer: dict[str, Any]) -> None:
    output.table(CALLS, map(_call, answer["items"]))


def _call(call: dict[str, Any]) -> tuple[object, ...]:
    spent = call["cost_micro_dollars"]
    return (
        call["call"],
        call["purpose"],
        call["model"],
        call["outcome"],
        *(call[f"{name}_tokens"] for name in ("input", "cache_read", "cache_write", "output")),
        None if spent is None else dollars(spent),
        call["latency_ms"],
    )


def _print_call(call: dict[str, Any]) -> None:
    output.pairs(
        [
            ("call", call["call"]),
            ("model", f"{call['model']} of {call['provider']}"),
            ("outcome", call["outcome"]),
            ("usage", answers.tokens(call)),
            ("cost", answers.cost(call["cost_micro_dollars"])),
            ("estimated", f"{output.shown(call['estimated_tokens'])} tokens in"),
            ("request", f"sha256 {output.shown(call['request_sha256'])}"),
        ]
    )
    output.line()
    output.table(PARTS, map(_part, call["parts"]))


def _part(part: dict[str, Any]) -> tuple[object, ...]:
    what = " (replaced)" if part["override"] == "replace" else ""
    if code := part.get("unavailable"):
        what = f" (unavailable: {code})"
    box = "[x]" if part["included"] else "[ ]"
    return box, part["id"] + what, part["tokens"], part["sha256"][:HASH_CHARACTERS]


def _print_diff(diff: dict[str, Any]) -> None:
    rows = [
        *(("-", each["id"], "gone", _sent(each), 0) for each in diff["removed"]),
        *(_changed(each) for each in diff["changed"]),
        *(("+", each["id"], "added", 0, _sent(each)) for each in diff["added"]),
    ]
    if rows:
        output.table(CHANGES, rows)
    parts = "part is" if diff["unchanged"] == 1 else "parts are"
    output.line(f"{diff['unchanged']:,} {parts} the same.")


def _changed(pair: dict[str, Any]) -> tuple[object, ...]:
    before, after = pair["before"], pair["after"]
    sign, change = "~", "changed"
    if before["included"] != after["included"]:
        sign, change = ("+", "brought back") if after["included"] else ("-", "left out")
    elif before["sha256"] == after["sha256"]:
        change = "counted anew" if before["tokens"] != after["tokens"] else "override"
    elif after["override"] == "replace":
        change = "replaced"
    return sign, after["id"], change, _sent(before), _sent(after)


def _sent(part: dict[str, Any]) -> int:
    tokens: int = part["tokens"]
    return tokens if part["included"] else 0
