"""`hango chat`: one message and its answer, or a conversation on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

import click

from cli import output
from cli.chat import turns
from cli.commands import ApiCommand, Invocation, invocation, session_id, understood
from cli.exits import Exit, Stop
from cli.files import STDIN, text_of
from cli.http import Api
from cli.waiting import failure

PROMPT = "> "


@click.command(
    cls=ApiCommand,
    example="hango chat --agent 0199f3a2-…\n"
    "hango chat --session 0199f3a2-… Go on\n"
    "echo 'What did we decide?' | hango chat --session 0199f3a2-… --json",
)
@click.option("--session", metavar="ID", help="Go on in this session; how its id begins will do.")
@click.option("--agent", metavar="ID", help="Start a session of this agent.")
@click.option("--max-turns", type=click.IntRange(min=1), help="Most model calls per message.")
@click.argument("message", nargs=-1, metavar="[MESSAGE...]")
@invocation
def chat(
    hango: Invocation,
    session: str | None,
    agent: str | None,
    max_turns: int | None,
    message: tuple[str, ...],
) -> None:
    """Talk to an agent.

    MESSAGE, or stdin where that is no terminal, is answered once. With neither, a conversation
    begins; Ctrl-D ends it. Ctrl-C cancels the run that answers. The answer goes to stdout, with
    control characters made visible; what tools do goes to stderr.
    """
    if (session is None) == (agent is None):
        raise click.UsageError("Give one of --session and --agent.")
    text = _given(message)
    if text is None and hango.given.as_json:
        raise click.UsageError("--json goes with a MESSAGE.")
    talk = _Talk(hango.api, session, agent, max_turns)
    with understood():
        if text is None:
            talk.go_on()
        elif hango.given.as_json:
            _print_json(talk.answer(text))
        else:
            talk.tell(text)


class _Talk:
    """A session that goes on, or that begins with its first message."""

    def __init__(
        self, api: Api, session: str | None, agent: str | None, max_turns: int | None
    ) -> None:
        self._api = api
        self._agent = agent
        self._max_turns = max_turns
        self._session = None if session is None else session_id(api, session)

    def tell(self, text: str) -> None:
        """Tell the answer to one message as it comes."""
        turns.told(self._api, self._session_id(), text, self._max_turns)

    def answer(self, text: str) -> dict[str, Any]:
        """The answer to one message, whole."""
        return turns.answered(self._api, self._session_id(), text, self._max_turns)

    def go_on(self) -> None:
        """Answer what is typed, until there is no more. A turn that fails does not end it."""
        for text in _typed():
            try:
                self.tell(text)
            except Stop as stop:
                if stop.exit_code == Exit.NOT_FOUND:
                    raise
                output.note(stop.line)

    def _session_id(self) -> str:
        if self._session is None:
            made = self._api.create("v1", "sessions", body={"agent_id": self._agent})
            self._session = str(made["id"])
            output.note(f"Session {self._session}")
        return self._session


def _given(words: Sequence[str]) -> str | None:
    """The message of the command line or of stdin; None where a person is to type it."""
    if not words and sys.stdin.isatty():
        if output.on_terminal():
            return None
        raise click.UsageError("Give a MESSAGE.")
    text = " ".join(words) if words else text_of(STDIN)
    if not text.strip():
        raise click.UsageError("The message is empty.")
    return text


def _typed() -> Iterator[str]:
    with suppress(ImportError):
        import_module("readline")  # input() edits lines with it
    while True:
        try:
            text = input(PROMPT)
        except (EOFError, KeyboardInterrupt):
            output.line()
            return
        except UnicodeDecodeError:
            output.note("That is not UTF-8.")
            continue
        if text.strip():
            yield text


def _print_json(answer: dict[str, Any]) -> None:
    output.document(answer)
    if stop := failure("Run", answer["run"]):
        raise stop
