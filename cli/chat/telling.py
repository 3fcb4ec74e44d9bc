"""A run's events for people, as they come: the answer on stdout, tools and waiting on stderr."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from typing import Any

from cli import answers, output
from cli.events import Event
from cli.spinner import Spinner
from cli.text import visible, visible_lines

MAX_TOOLS_NAMED = 3


class Telling:
    """Tells one run. What it has missed it leaves to `rest`."""

    def __init__(self, spinner: Spinner) -> None:
        self._spinner = spinner
        self._is_in_line = False
        self._has_begun = False  # whether some of a turn was told that has not finished
        self._told: set[int] = set()  # messages whose turns were told to their end
        self._running: dict[str, str] = {}  # tools by the ids of their calls

    def events(self, events: Iterable[Event]) -> None:
        """Tell all of them, up to where some are missing."""
        self._spinner.turn("waiting")
        for event in events:
            if event.kind == "reset":
                break
            self._tell(event)
        self.pause()

    def rest(self, messages: Iterable[dict[str, Any]]) -> None:
        """Tell messages that no event has told of."""
        self.pause()
        if self._has_begun:
            output.note("Some of this was missed. It is, as a whole:")
        for message in messages:
            if message["role"] == "assistant":
                answers.show(message["content"])

    def missed(self, seqs: Collection[int]) -> set[int]:
        """Those of a run's messages that were not told."""
        return set(seqs) - self._told

    def pause(self) -> None:
        """Leave the terminal to somebody else, at the beginning of a line."""
        self._spinner.stop()
        if self._is_in_line:
            sys.stdout.write("\n")
            self._is_in_line = False
        sys.stdout.flush()

    def _tell(self, event: Event) -> None:
        data = event.data
        if event.kind == "message.delta":
            self._delta(data.get("delta"))
        elif event.kind == "tool.started":
            self._started(str(data.get("id")), str(data.get("name")))
        elif event.kind == "tool.finished":
            self._finished(str(data.get("id")), str(data.get("name")), bool(data.get("is_error")))
        elif event.kind in ("task.started", "task.finished"):
            self._helper(data)
        elif event.kind == "injection.failed":
            self.pause()
            output.note(f"[{data.get('name')}] was left out: {data.get('code')}")
        elif event.kind == "turn.finished":
            self.pause()
            self._has_begun = False
            self._told |= {each for each in data.get("messages") or () if isinstance(each, int)}
            self._spinner.turn("thinking")

    def _delta(self, delta: Any) -> None:
        text = delta.get("text") if isinstance(delta, dict) else None
        if not isinstance(text, str) or not text:
            # Thinking, or the input of a tool call: there is nothing to read yet.
            if not self._is_in_line:
                self._spinner.turn("thinking")
            return
        self._spinner.stop()
        # Before the text is out: Ctrl-C may come right behind it.
        self._is_in_line, self._has_begun = not text.endswith("\n"), True
        sys.stdout.write(visible_lines(text))
        sys.stdout.flush()

    def _started(self, call: str, name: str) -> None:
        self.pause()
        output.note(f"[{name}] started")
        self._running[call] = name
        self._wait_for_tools()

    def _finished(self, call: str, name: str, is_error: bool) -> None:
        self.pause()
        output.note(f"[{name}] {'failed' if is_error else 'done'}")
        self._running.pop(call, None)
        self._wait_for_tools()

    def _helper(self, data: dict[str, Any]) -> None:
        """A helper that `task` has called: it works in a session that can be looked at."""
        self.pause()
        helper, session = str(data.get("helper")), str(data.get("session_id"))
        status = data.get("status")
        output.note(f"[{helper}] {status or 'works'} in session {session}")
        if status is None:
            self._running[str(data.get("id"))] = helper
        self._wait_for_tools()

    def _wait_for_tools(self) -> None:
        names = list(self._running.values())
        more = f" and {len(names) - MAX_TOOLS_NAMED} more" if len(names) > MAX_TOOLS_NAMED else ""
        what = ", ".join(map(visible, names[:MAX_TOOLS_NAMED]))
        self._spinner.turn(f"running {what}{more}" if names else "thinking")
