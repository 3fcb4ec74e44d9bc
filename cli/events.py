"""A run's events as the server streams them, taken up again where a connection breaks."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from cli.exits import Stop
from cli.http import Api, Problem

MOST_BREAKS = 4  # in a row, without an event in between
PAUSE_SECONDS = 0.5  # after the first break; each next one is longer by as much


class Event(NamedTuple):
    """One event: `message.delta`, `tool.started` …; `done` is the last."""

    kind: str
    data: dict[str, Any]
    id: str | None = None


def follow(api: Api, run_id: str) -> Iterator[Event]:
    """The run's events from its first to `done`.

    They end without `done` where they are not to be had, or no longer: the run itself tells then.
    """
    last, breaks = None, 0
    while True:
        try:
            lines = api.event_lines("v1", "runs", run_id, "events", last_event_id=last)
            for event in parsed(lines):
                last, breaks = event.id or last, 0
                yield event
                if event.kind == "done":
                    return
        except Problem:
            return  # too many follow events already, or the server has none
        except Stop:
            pass  # cut, or silent for too long
        breaks += 1
        if breaks > MOST_BREAKS:
            return
        time.sleep(PAUSE_SECONDS * breaks)


def parsed(lines: Iterable[bytes]) -> Iterator[Event]:
    """Server-Sent Events (WHATWG HTML 9.2) whose data are JSON objects; others are left out."""
    fields: dict[str, str] = {}
    for raw in lines:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            more = name == "data" and name in fields
            fields[name] = f"{fields[name]}\n{value}" if more else value
            continue
        if event := _event(fields):
            yield event
        fields = {}


def _event(fields: dict[str, str]) -> Event | None:
    try:
        data = json.loads(fields.get("data", ""))
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    return Event(fields.get("event", "message"), data, fields.get("id"))
