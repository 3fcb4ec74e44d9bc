"""The sets of overrides on the server: the session's, and its agent's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from cli.exits import Exit, Stop
from cli.http import Api, Problem, Tagged

Entry = dict[str, Any]

AGENT_KINDS = ("system", "tool")
_SENT_FIELDS = ("part", "action", "replacement", "reason")


class Place(NamedTuple):
    """Whose set it is: the session's (messages, the summary) or its agent's (system, tools)."""

    kind: str  # "session" or "agent"
    id: str
    session_id: str  # where the price of an edit is measured

    @property
    def path(self) -> tuple[str, ...]:
        """Where the API has the set."""
        return ("v1", f"{self.kind}s", self.id, "context-overrides")


class Saved(NamedTuple):
    """A set as it stands, and the ETag that a change of it has to name."""

    version: int
    overrides: list[Entry]
    etag: str
    answer: dict[str, Any]


def is_agents(part: str) -> bool:
    """Whether the part is overridden on the agent; all else goes to the session."""
    return part.partition(":")[0] in AGENT_KINDS


def read(api: Api, place: Place) -> Saved:
    """The set as it stands."""
    return _saved(api.tagged(*place.path))


def preview(api: Api, place: Place, overrides: list[Entry]) -> dict[str, Any]:
    """What saving these would answer and cost. Nothing is stored."""
    query = {"session": place.session_id} if place.kind == "agent" else None
    try:
        answer = api.ask(*place.path, "preview", body={"overrides": _sent(overrides)}, query=query)
    except Problem as problem:
        raise _named(problem, overrides) from None
    return _checked(answer)


def put(
    api: Api, place: Place, overrides: list[Entry], *, etag: str, reason: str | None = None
) -> Saved:
    """Make these the set, provided that it still has this ETag."""
    body = {"overrides": _sent(overrides), "reason": reason}
    try:
        return _saved(api.put(*place.path, body=body, etag=etag))
    except Problem as problem:
        raise _named(problem, overrides) from None


def restore(api: Api, place: Place, version: int, *, etag: str) -> Saved:
    """Bring back one of the last sets, provided that the present one still has this ETag."""
    return _saved(api.post(*place.path, "restore", body={"version": version}, etag=etag))


def history(api: Api, place: Place) -> dict[str, Any]:
    """The last sets, newest first, under `items`."""
    answer = api.get(*place.path, "history")
    items = answer.get("items") if isinstance(answer, dict) else None
    for each in items if isinstance(items, list) else [None]:
        _checked(each)
    return dict(answer)


def past(sets: Mapping[str, Any], version: int) -> dict[str, Any]:
    """The set of this version in a history.

    Raises:
        Stop: it is not among the last ones.
    """
    for each in sets["items"]:
        if each["version"] == version:
            return dict(each)
    raise Stop(
        f"Version {version} is not among the last sets.",
        "`hango context history` lists them.",
        Exit.NOT_FOUND,
    )


def _saved(tagged: Tagged) -> Saved:
    answer = _checked(tagged.document)
    if tagged.etag is None:
        raise Stop(
            "The server answers without an ETag, so a change could undo somebody else's.",
            "Does a proxy take it away?",
        )
    return Saved(answer["version"], answer["overrides"], tagged.etag, answer)


def _checked(answer: Any) -> dict[str, Any]:
    if (
        isinstance(answer, dict)
        and isinstance(answer.get("version"), int)
        and _all_have({"part", "action"}, answer.get("overrides"))
        and _all_have({"part", "goes_with"}, answer.get("added") or [])
    ):
        return dict(answer)
    raise Stop("The server answers with no set of overrides.", "Are server and CLI of one version?")


def _all_have(names: set[str], listed: Any) -> bool:
    return isinstance(listed, list) and all(
        isinstance(each, dict) and each.keys() >= names for each in listed
    )


def _sent(overrides: Iterable[Entry]) -> list[Entry]:
    return [{name: each[name] for name in _SENT_FIELDS if name in each} for each in overrides]


def _named(problem: Problem, overrides: list[Entry]) -> Problem:
    """The refusal with the parts at fault in place of their numbers in the whole set."""
    parts = {f"overrides[{index}]": each["part"] for index, each in enumerate(overrides)}
    faults = []
    for each in problem.errors:
        at, dot, field = str(each.get("at")).partition(".")
        faults.append({**each, "at": f"{parts.get(at, at)}{dot}{field}"})
    return problem.with_errors(faults)
