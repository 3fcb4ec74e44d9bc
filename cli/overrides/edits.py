"""One change of saved overrides: worked out on what stands, measured, and saved or undone.

A set is only saved as long as it is the one that the change was worked out on. When somebody else
was faster, the change is worked out once more on theirs, a few times if need be.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from cli.exits import Stop
from cli.http import Api, Problem
from cli.overrides import sets
from cli.overrides.sets import Entry, Place, Saved

MOST_ROUNDS = 20
MOST_SAVES = 8  # of one change, while others change the set
LONGEST_PAUSE = 0.05  # seconds; longer with each save that came too late

Change = Callable[[list[Entry]], list[Entry]]


class Edit(NamedTuple):
    """A change of one set. Parts that are `inside` are sent afterwards, and their partners."""

    place: Place
    change: Change
    inside: Collection[str] = ()
    named: Collection[str] = ()  # those of them that were asked for
    restores: int | None = None  # the version that it brings back
    reason: str | None = None


class Prepared(NamedTuple):
    """A change worked out on the set that stands, and what the server says it would come to."""

    edit: Edit
    saved: Saved
    wanted: list[Entry]
    preview: Mapping[str, Any]


class Done(NamedTuple):
    """A change, and the set that it left; None where it was only tried."""

    prepared: Prepared
    left: Saved | None

    @property
    def place(self) -> Place:
        """Whose set was changed."""
        return self.prepared.edit.place


class _Uncertain(Stop):
    """Nobody can tell whether a set was saved."""

    def __init__(self, cause: Stop, place: Place) -> None:
        what = f"{cause.what} Whether the {place.kind}'s overrides were saved is not known."
        hint = f"Look with `hango context show --session {place.session_id}`."
        super().__init__(what, hint, cause.exit_code)


def excluding(parts: Sequence[str]) -> Change:
    """Leave these out, too."""

    def change(overrides: list[Entry]) -> list[Entry]:
        gone = {each["part"] for each in overrides if each["action"] == "exclude"}
        new = dict.fromkeys(part for part in parts if part not in gone)
        kept = [each for each in overrides if each["part"] not in new]
        return [*kept, *({"part": part, "action": "exclude"} for part in new)]

    return change


def replacing(part: str, text: str) -> Change:
    """Put this text in the place of one part."""

    def change(overrides: list[Entry]) -> list[Entry]:
        kept = [each for each in overrides if each["part"] != part]
        return [*kept, {"part": part, "action": "replace", "replacement": text}]

    return change


def unchanged(overrides: list[Entry]) -> list[Entry]:
    """Leave the rest as it is: an edit that only brings parts back."""
    return overrides


def becoming(overrides: list[Entry]) -> Change:
    """Make these the set, whatever it is now."""
    return lambda _: overrides


def prepare(api: Api, edit: Edit) -> Prepared | None:
    """Work the change out; None when the set is that already.

    Raises:
        Stop: the set that it makes is refused, or parts to be sent would leave all the same.
    """
    saved = sets.read(api, edit.place)
    inside = set(edit.inside)
    for _ in range(MOST_ROUNDS):
        wanted = edit.change([each for each in saved.overrides if each["part"] not in inside])
        if as_wishes(wanted) == as_wishes(saved.overrides):
            return None
        preview = sets.preview(api, edit.place, wanted)
        if not (holding := _holding(preview, inside)):
            return Prepared(edit, saved, wanted, preview)
        inside |= holding
    raise Stop(
        f"{', '.join(edit.named)} would leave again, with what stays left out.",
        "Include all of that, or clear the set.",
    )


def as_wishes(overrides: Sequence[Entry]) -> dict[str, tuple[str, str | None]]:
    """What the set does with each part."""
    return {each["part"]: (each["action"], each.get("replacement")) for each in overrides}


def save_all(api: Api, prepared: Sequence[Prepared]) -> list[Done]:
    """Save changes of several sets: all of them, or none as far as can be known.

    Raises:
        Stop: one cannot be saved. The message says what became of those before it.
    """
    done: list[Done] = []
    for each in prepared:
        try:
            if saved := _save(api, each):
                done.append(saved)
        except Stop as stop:
            raise _after(api, stop, done) if done else stop from None
    return done


def _save(api: Api, prepared: Prepared) -> Done | None:
    """Save a change; worked out anew as often as somebody else is faster, which has an end."""
    for tried in range(1, MOST_SAVES):
        try:
            return _saved(api, prepared)
        except Problem as problem:
            if problem.status != 412:
                raise
        # Apart from the others who came too late as well.
        pause = random.uniform(0, LONGEST_PAUSE)  # noqa: S311 (no secret)
        time.sleep(pause * (tried - 1))
        if (again := prepare(api, prepared.edit)) is None:
            return None
        prepared = again
    return _saved(api, prepared)


def _saved(api: Api, prepared: Prepared) -> Done:
    try:
        return Done(prepared, _sent(api, prepared))
    except Stop as stop:
        # A cut connection, or a proxy's 5xx: the server may have done it all the same.
        if isinstance(stop, Problem) and stop.status < 500:
            raise
        raise _Uncertain(stop, prepared.edit.place) from None


def _sent(api: Api, prepared: Prepared) -> Saved:
    edit, etag = prepared.edit, prepared.saved.etag
    if edit.restores is not None:
        return sets.restore(api, edit.place, edit.restores, etag=etag)
    return sets.put(api, edit.place, prepared.wanted, etag=etag, reason=edit.reason)


def _holding(preview: Mapping[str, Any], inside: set[str]) -> set[str]:
    """The parts that would take some of `inside` along, over however many others."""
    goes_with = {each["part"]: each["goes_with"] for each in preview.get("added") or ()}
    holding: set[str] = set()
    while more := {goes_with[each] for each in inside | holding if each in goes_with} - holding:
        holding |= more
    return holding - inside


def _after(api: Api, stop: Stop, done: Sequence[Done]) -> Stop:
    """What to tell when sets before this one are saved already."""
    if isinstance(stop, _Uncertain):
        return Stop(f"{stop.what} {_standing(done)}", stop.hint, stop.exit_code)
    try:
        for each in done:
            _undo(api, each)
    except Stop as failed:
        what = f"{stop.what} {_standing(done)} Undoing that failed: {failed.what}"
        return Stop(what, _undoing(done[0]), stop.exit_code)
    what = f"{stop.what} Nothing is changed: the {done[0].place.kind}'s were put back."
    return Stop(what, stop.hint, stop.exit_code)


def _undo(api: Api, done: Done) -> None:
    if done.left:
        before, etag = done.prepared.saved.overrides, done.left.etag
        sets.put(api, done.place, before, etag=etag, reason="undone: the other half was refused")


def _standing(done: Sequence[Done]) -> str:
    told = [f"the {d.place.kind}'s, as version {d.left.version}" for d in done if d.left]
    return f"Saved before it: {', '.join(told)}."


def _undoing(done: Done) -> str:
    target = f"--session {done.place.session_id}"
    target += " --agent-parts" if done.place.kind == "agent" else ""
    if version := done.prepared.saved.version:
        return f"`hango context restore {target} {version}` undoes it."
    return f"`hango context clear {target}` undoes it."
