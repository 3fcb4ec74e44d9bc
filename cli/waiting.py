"""Waiting for a run or a try to end: --wait, long-wait requests, and what an ending exits with.

The server holds each request back until there is an end to tell, so nothing here asks again and
again. Where it will not hold one back, it says when to come back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import click

from cli.commands import ApiCommand, Invocation
from cli.exits import Exit, Stop
from cli.http import Api, Problem, Tagged

DEFAULT_WAIT_SECONDS = 600  # of --wait alone: a try's deadline, and patience with a queue
MOST_WAIT_SECONDS = 86_400
SECONDS_PER_REQUEST = 30  # proxies give up on a silent connection after 60, as a rule
MOST_FAILURES = 3  # in a row, of a server that had answered before
LONGEST_PAUSE_SECONDS = 30

UNFINISHED = ("queued", "running")
_PASSING = (429, 502, 503, 504)
_LIMITS = ("quota_exceeded", "rate_limited", "provider_rate_limited", "provider_limit_reached")


class WaitCommand(ApiCommand):
    """A command that takes --wait, with or without a number of seconds."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.insert(
            0,
            click.Option(
                ["--wait"],
                type=click.FloatRange(min=0, max=MOST_WAIT_SECONDS),
                metavar="[SECONDS]",
                help="Wait for the end, no longer than this.  "
                f"[without a number: {DEFAULT_WAIT_SECONDS}]",
            ),
        )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, but what follows --wait is its value only where it is a number."""
        return super().parse_args(ctx, list(_with_seconds(args)))


def _with_seconds(arguments: Sequence[str]) -> list[str]:
    return [
        f"{each}={DEFAULT_WAIT_SECONDS}" if each == "--wait" and not _is_number(following) else each
        for each, following in pairwise([*arguments, ""])
    ]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_final(document: dict[str, Any]) -> bool:
    """Whether nothing more happens to this run or try."""
    return document.get("status") not in UNFINISHED


def until_final(
    api: Api, *segments: str, seconds: float, standing: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The run or try at this path when it has ended; after `seconds`, as it then stands.

    `standing` is what the server has said of it before. A server that had answered may fail to for
    a moment: it is asked again.

    Raises:
        Stop: it refuses, or stays away.
    """
    deadline, failures = time.monotonic() + seconds, 0
    while True:
        left = max(0.0, deadline - time.monotonic())
        asked, began = int(min(SECONDS_PER_REQUEST, left)), time.monotonic()
        try:
            answer = api.waited(*segments, seconds=asked)
        except Stop as stop:
            failures += 1
            if standing is None or failures > MOST_FAILURES or not left or not _may_pass(stop):
                raise
            pause = _pause_after(stop, failures)
        else:
            failures, standing = 0, checked(answer.document)
            if is_final(standing) or not left:
                return standing
            pause = _pause(answer, asked, time.monotonic() - began)
        time.sleep(min(pause, max(0.0, deadline - time.monotonic())))


def checked(document: Any) -> dict[str, Any]:
    """A run or a try as far as waiting goes by it: its id and its status.

    Raises:
        Stop: it is something else.
    """
    known = document if isinstance(document, dict) else {}
    if all(isinstance(known.get(name), str) for name in ("id", "status")):
        return known
    raise Stop("The server answers with no status.", "Are server and CLI of one version?")


def _may_pass(stop: Stop) -> bool:
    return not isinstance(stop, Problem) or stop.status in _PASSING


def _pause_after(stop: Stop, failures: int) -> float:
    asked = stop.retry_after if isinstance(stop, Problem) else None
    return min(LONGEST_PAUSE_SECONDS, float(2 ** (failures - 1)) if asked is None else asked)


def _pause(answer: Tagged, asked: float, took: float) -> float:
    """How long to leave a server alone that gave no end: not at all if it has held us back."""
    if took >= asked > 0:
        return 0
    return min(LONGEST_PAUSE_SECONDS, max(1.0, answer.retry_after or 0))


def unfinished(noun: str, document: dict[str, Any], seconds: float, hint: str) -> Stop:
    """What to tell when the time is up before the end has come."""
    what = f"{noun} {document['id']} is {document['status']} after {seconds:g} s."
    return Stop(what, hint, Exit.TIMED_OUT)


def failure(noun: str, document: dict[str, Any]) -> Stop | None:
    """What to tell of an ending that is no success; None of one that is, or of no ending."""
    status = document["status"]
    if status == "succeeded" or not is_final(document):
        return None
    error = document.get("error") or {}
    code = error.get("code")
    said = error.get("message") or error.get("detail") or ""
    reason = f": {said.rstrip(' .')}." if said else "."
    again = "The same may succeed later." if error.get("retryable") else ""
    what = f"{noun} {document['id']} {_ENDINGS.get(status, f'ended as {status}')}{reason}"
    return Stop(what, f"{again} ({code})".strip() if code else again, _exit(status, code))


_ENDINGS = {"failed": "failed", "timed_out": "ran out of time", "cancelled": "was cancelled"}


def _exit(status: str, code: str | None) -> Exit:
    if status == "timed_out":
        return Exit.TIMED_OUT
    return Exit.LIMITED if code in _LIMITS else Exit.FAILED


def show_end(  # noqa: PLR0913 (all that an ending is told by)
    hango: Invocation,
    noun: str,
    made: dict[str, Any],
    *,
    waited: float | None,
    hint: str,
    show: Callable[[dict[str, Any]], None],
) -> None:
    """Print a try or an ablation as it stands, and end as it has ended.

    `waited`: for so many seconds; None: not at all. `hint`: what to do while it goes on.

    Raises:
        Stop: it was no success, or the time was up before.
    """
    if is_final(made) or waited is None or hango.given.as_json:
        hango.show(made, show)
    if waited is not None and not is_final(made):
        raise unfinished(noun, made, waited, hint)
    if stop := failure(noun, made):
        raise stop
