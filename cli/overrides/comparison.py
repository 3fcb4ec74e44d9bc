"""Two model calls compared part by part. Pure.

A side is what one call sends: the tokens of each part, None where they are not known. A part that
a call does not send is not on its side.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from cli.overrides.snapshots import GROUPS, Part, Snapshot, is_there

SAME = "same"


class Row(NamedTuple):
    """One part: what became of it, and its tokens before and after; None: not known."""

    part: str
    label: str
    change: str
    before: int | None
    after: int | None

    @property
    def difference(self) -> int | None:
        """Tokens that the second call has more."""
        if self.before is None or self.after is None:
            return None
        return self.after - self.before


Groups = dict[str, list[Row]]


def with_and_without_overrides(snapshot: Snapshot) -> Groups:
    """The call without overrides, against the same call as it will be."""
    return {name: list(_by_overrides(group)) for name, group in _groups(snapshot)}


def between_snapshots(first: Snapshot, second: Snapshot) -> Groups:
    """One snapshot against another one."""
    second_groups = dict(_groups(second))
    return {
        name: list(_between(group["parts"], second_groups[name]["parts"]))
        for name, group in _groups(first)
    }


def since_set(
    snapshot: Snapshot,
    then: Collection[Mapping[str, Any]],
    now: Collection[Mapping[str, Any]],
    kinds: Collection[str],
) -> Groups:
    """The call as the overrides `then` would make it, against the call as it will be.

    Both sets are of parts of `kinds`; other parts are the same in both calls.
    """
    wanted = {each["part"]: each for each in then}
    standing = {each["part"]: each for each in now}

    def row(part: Part) -> Row:
        part_id = part["id"]
        if part_id.partition(":")[0] not in kinds or not _is_reached(part):
            return _same(part)
        return _since(part, wanted.get(part_id), standing.get(part_id))

    return {name: [row(part) for part in group["parts"]] for name, group in _groups(snapshot)}


def _groups(snapshot: Snapshot) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in GROUPS:
        yield name, snapshot["groups"][name]


def _is_reached(part: Part) -> bool:
    """Whether the part can be sent at all: it exists, and no summary stands for it."""
    return is_there(part) and not part.get("compacted")


def _original(part: Part) -> int:
    """What the part costs without overrides."""
    before: int | None = part.get("tokens_before")
    return int(part["tokens"]) if before is None else before


def _row(part: Part, change: str, before: int | None, after: int | None) -> Row:
    return Row(part["id"], part["label"], change, before, after)


def _same(part: Part) -> Row:
    tokens = part["tokens"] if part["included"] else 0
    return _row(part, SAME, tokens, tokens)


def _by_overrides(group: dict[str, Any]) -> Iterator[Row]:
    # The group's total has what its parts cost without overrides; a part beyond it is new.
    beyond = sum(_original(part) for part in group["parts"] if _is_reached(part))
    beyond -= group["tokens"]["before"]
    for part in group["parts"]:
        if part.get("synthetic") and part["included"] and 0 < part["tokens"] <= beyond:
            beyond -= part["tokens"]
            yield _row(part, "added", 0, part["tokens"])
        else:
            yield _by_override(part)


def _by_override(part: Part) -> Row:
    if not _is_reached(part):
        return _same(part)
    if part.get("thinking_dropped") and part["override"] == "none":
        after = part["tokens"] if part["included"] else 0
        return _row(part, "thinking left out", _original(part), after)
    if not part["included"]:
        return _row(part, "left out", _original(part), 0)
    if part["override"] == "replace" and part.get("tokens_before") is not None:
        return _row(part, "replaced", _original(part), part["tokens"])
    return _same(part)


def _between(first: list[Part], second: list[Part]) -> Iterator[Row]:
    """In the order of the second; what only the first has stands where it stood."""
    places = {part["id"]: index for index, part in enumerate(first)}
    staying = {part["id"] for part in second}
    at = 0
    for part in second:
        place = places.get(part["id"], -1)
        for gone in first[at : place + 1]:
            if gone["id"] not in staying:
                yield _pair(gone, None)
        at = max(at, place + 1)
        yield _pair(first[place] if place >= 0 else None, part)
    yield from (_pair(gone, None) for gone in first[at:] if gone["id"] not in staying)


def _pair(first: Part | None, second: Part | None) -> Row:
    known: Part = second or first or {}
    before = first["tokens"] if first and first["included"] else 0
    after = second["tokens"] if second and second["included"] else 0
    return _row(known, _change(first, second), before, after)


def _change(first: Part | None, second: Part | None) -> str:
    sent_first = first is not None and first["included"]
    sent_second = second is not None and second["included"]
    if not sent_first and not sent_second:
        return SAME
    if not sent_first:
        return "added" if first is None else "brought back"
    if not sent_second:
        return "gone" if second is None else "left out"
    return _content_change(first or {}, second or {})


def _content_change(first: Part, second: Part) -> str:
    if first["sha256"] == second["sha256"]:
        return SAME if first["tokens"] == second["tokens"] else "counted anew"
    if second["override"] == "replace":
        return "replaced"
    if second.get("thinking_dropped"):
        return "thinking left out"
    return "original again" if first["override"] == "replace" else "changed"


def _since(part: Part, then: Mapping[str, Any] | None, now: Mapping[str, Any] | None) -> Row:
    before, after = _tokens_then(part, then, now), part["tokens"] if part["included"] else 0
    was_out, is_out = _action(then) == "exclude", not part["included"]
    if was_out and not is_out:
        return _row(part, "brought back", before, after)
    if is_out and not was_out:
        return _row(part, "left out", before, after)
    if is_out or _text(then) == _text(now):
        return _same(part)
    return _row(part, "replaced" if _action(now) == "replace" else "original again", before, after)


def _tokens_then(
    part: Part, then: Mapping[str, Any] | None, now: Mapping[str, Any] | None
) -> int | None:
    if then is None:
        return _original(part)
    if then["action"] == "exclude":
        return 0
    # What another text would cost, only the server could tell.
    return int(part["tokens"]) if _text(then) == _text(now) else None


def _action(override: Mapping[str, Any] | None) -> str | None:
    return override["action"] if override else None


def _text(override: Mapping[str, Any] | None) -> str | None:
    return override.get("replacement") if override else None


def folded(rows: Iterable[Row]) -> Iterator[Row | list[Row]]:
    """The rows with each run of unchanged ones as one list."""
    run: list[Row] = []
    for row in rows:
        if row.change == SAME:
            run.append(row)
            continue
        if run:
            yield run
            run = []
        yield row
    if run:
        yield run
