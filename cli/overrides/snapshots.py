"""Snapshots of the next call as the API gives them, or as a file has kept one."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from cli.exits import Exit, Stop
from cli.files import text_of
from cli.http import Api

GROUPS = ("system", "tools", "messages")
_TEXTS = ("id", "label", "override", "sha256")

Part = dict[str, Any]
Snapshot = dict[str, Any]


def next_call(api: Api, session_id: str) -> Snapshot:
    """What the next call of the session would send."""
    answer = api.get("v1", "sessions", session_id, "context")
    if not _is_snapshot(answer):
        raise Stop("The server answers with no snapshot.", "Are server and CLI of one version?")
    return dict(answer)


def from_file(path: Path) -> Snapshot:
    """A snapshot that `hango context show --json` printed.

    Raises:
        Stop: the file holds none, or one page of one.
    """
    try:
        document = json.loads(text_of(path))
    except (ValueError, RecursionError):
        document = None
    if not _is_snapshot(document):
        hint = "`hango context show --session ID --json` prints one."
        raise Stop(f"{path} holds no snapshot.", hint, Exit.USAGE)
    messages = document["groups"]["messages"]
    if len(messages["parts"]) < (messages.get("page") or {}).get("total", 0):
        hint = "Save it without --messages-limit and --messages-before."
        raise Stop(f"{path} holds only some of the messages.", hint, Exit.USAGE)
    return dict(document)


def parts_of(snapshot: Snapshot) -> dict[str, Part]:
    """Every part that is listed, by its id."""
    return {part["id"]: part for part in _listed(snapshot)}


def is_there(part: Part | None) -> bool:
    """Whether the part exists; an override of one that does not is stale."""
    return part is not None and not part.get("stale")


def group_of(parts: dict[str, Part], wanted: Collection[str]) -> set[str]:
    """The wanted parts with those that left together with them, whole groups of tool calls."""
    found, waiting = set(wanted), list(wanted)
    while waiting:
        partners = set(parts.get(waiting.pop(), {}).get("paired_with") or ()) - found
        found |= partners
        waiting += partners
    return found


def _listed(snapshot: Snapshot) -> Iterator[Part]:
    for name in GROUPS:
        yield from snapshot["groups"][name]["parts"]


def _is_snapshot(document: Any) -> bool:
    """Whether it has what the commands go by; the table of `show` says itself what it misses."""
    try:
        totals = [document["totals"], *(document["groups"][name]["tokens"] for name in GROUPS)]
        numbers = [each[when] for each in totals for when in ("before", "after")]
        numbers += [part["tokens"] for part in _listed(document)]
        texts = [document["session_id"], document["agent_id"]]
        texts += [part[name] for part in _listed(document) for name in _TEXTS]
        known = all("included" in part for part in _listed(document))
    except (KeyError, TypeError):
        return False
    return (
        known
        and all(isinstance(each, int) for each in numbers)
        and all(isinstance(each, str) for each in texts)
    )
