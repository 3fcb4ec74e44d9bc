"""One turn of a chat: a message begins a run, which is told as it goes or waited for."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from cli import answers, output
from cli.chat.telling import Telling
from cli.commands import PAGE_ITEMS
from cli.events import follow
from cli.exits import Stop
from cli.http import Api
from cli.spinner import Spinner
from cli.waiting import checked, failure, is_final, until_final

# As long as it takes: the server ends every run by its deadline.
NO_END = float("inf")
CANCELLING_SECONDS = 15.0
ODD_STOPS = {
    "max_tokens": "The answer is cut: it has reached the agent's max_tokens.",
    "max_turns": "The run is cut: it has made as many calls as it may.",
    "refusal": "The model refused to go on.",
}

Run = dict[str, Any]


def told(api: Api, session_id: str, message: str, max_turns: int | None) -> None:
    """Let the agent answer, and tell the answer as it comes.

    Raises:
        Stop: the run is refused, or ended otherwise than well.
    """
    run = _begun(api, session_id, message, max_turns)
    with Spinner() as spinner:
        telling = Telling(spinner)
        try:
            telling.events(follow(api, run["id"]))
            spinner.turn("waiting")
            run = _ended(api, run)
        except KeyboardInterrupt:
            telling.pause()
            run = _cancelled(api, run)
        # The first is the user's own.
        if missed := telling.missed(run["messages"][1:]):
            telling.rest(_messages(api, session_id, missed))
    _account(run)
    _check(run)


def answered(api: Api, session_id: str, message: str, max_turns: int | None) -> dict[str, Any]:
    """The run that answers the message, when it has ended, and the messages that it wrote."""
    run = _begun(api, session_id, message, max_turns)
    with Spinner() as spinner:
        spinner.turn("waiting")
        try:
            run = _ended(api, run)
        except KeyboardInterrupt:
            spinner.stop()
            run = _cancelled(api, run)
    messages = _messages(api, session_id, run["messages"])
    return {"session_id": session_id, "run": run, "messages": messages}


def _begun(api: Api, session_id: str, message: str, max_turns: int | None) -> Run:
    body: dict[str, object] = {"message": message}
    if max_turns is not None:
        body["max_turns"] = max_turns
    try:
        return checked(api.create("v1", "sessions", session_id, "runs", body=body))
    except KeyboardInterrupt:
        hint = f"`hango runs list --session {session_id}` tells."
        raise Stop("Stopped. Whether the run was begun is not known.", hint) from None


def _ended(api: Api, run: Run) -> Run:
    return until_final(api, "v1", "runs", run["id"], seconds=NO_END, standing=run)


def _cancelled(api: Api, run: Run) -> Run:
    """Cancel the run and see it end; it may have ended well just before."""
    output.note("Cancelling …")
    asked: Run = api.delete("v1", "runs", run["id"])
    path = "v1", "runs", run["id"]
    ended = until_final(api, *path, seconds=CANCELLING_SECONDS, standing=asked)
    if not is_final(ended):
        hint = f"`hango runs show {run['id']}` tells whether it has."
        raise Stop(f"Run {run['id']} was told to end and has not yet.", hint)
    return ended


def _messages(api: Api, session_id: str, seqs: Collection[int]) -> list[dict[str, Any]]:
    wanted = set(seqs)
    every = api.items("v1", "sessions", session_id, "messages", query={"limit": PAGE_ITEMS})
    return [each for each in every if each["seq"] in wanted]


def _account(run: Run) -> None:
    usage = run["usage"]
    calls = "1 call" if usage["calls"] == 1 else f"{usage['calls']:,} calls"
    output.note(f"({calls}, {answers.tokens(usage)}, {answers.spent(usage)})")
    if odd := ODD_STOPS.get(run["stop_reason"] or ""):
        output.note(odd)


def _check(run: Run) -> None:
    if stop := failure("Run", run):
        raise stop
