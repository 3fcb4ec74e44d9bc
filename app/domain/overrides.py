"""Overrides: saved wishes to leave a part out of the outgoing request, or to replace it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal
from uuid import UUID

import msgspec

Action = Literal["exclude", "replace"]


class Override(msgspec.Struct, frozen=True):
    """One saved wish about one part. `replacement` is there exactly for `replace`."""

    part: str
    action: Action
    replacement: str | None = None
    base_sha256: str | None = None  # of the part that it replaces, as it was when it was saved


class OverrideSet:
    """The overrides that one run goes by: the agent's and the session's together."""

    __slots__ = ("_by_part",)

    def __init__(self, overrides: Iterable[Override] = ()) -> None:
        self._by_part: Mapping[str, Override] = {each.part: each for each in overrides}

    def __len__(self) -> int:
        return len(self._by_part)

    def __iter__(self) -> Iterator[Override]:
        return iter(self._by_part.values())

    def parts(self, action: Action) -> frozenset[str]:
        """The parts that this is to be done with."""
        return frozenset(each.part for each in self if each.action == action)

    def excludes(self, part: str) -> bool:
        """Whether this part is to be left out."""
        found = self._by_part.get(part)
        return found is not None and found.action == "exclude"

    def replacement(self, part: str) -> str | None:
        """The text that stands in for this part, or None."""
        found = self._by_part.get(part)
        return found.replacement if found else None

    def base_changed(self, part: str, sha256: str) -> bool:
        """Whether this part was replaced when its original was another one."""
        found = self._by_part.get(part)
        return found is not None and found.base_sha256 not in (None, sha256)

    def state_of(self, part: str) -> Literal["none", "exclude", "replace"]:
        """What inspect says of this part."""
        found = self._by_part.get(part)
        return found.action if found else "none"

    def on_messages(self) -> bool:
        """Whether any of them acts on the history."""
        return any(part.startswith("message:") or part == "summary" for part in self._by_part)


NO_OVERRIDES = OverrideSet()


class Target(msgspec.Struct, frozen=True):
    """What a saved set belongs to: an agent (system and tool parts) or a session (messages)."""

    kind: Literal["agent", "session"]
    id: UUID


class SavedOverride(msgspec.Struct, frozen=True, kw_only=True):
    """An override as it is stored, with who saved it and when."""

    part: str
    action: Action
    replacement: str | None = None
    reason: str | None = None
    base_sha256: str | None = None  # of the part that it replaces, as it was then
    created_by: UUID
    created_at: str


class SavedSet(msgspec.Struct, frozen=True, kw_only=True):
    """The whole set of a target. `version` grows with each change; 0: never set."""

    target: Target
    version: int
    overrides: tuple[SavedOverride, ...]

    def as_wishes(self) -> tuple[Override, ...]:
        """The bare overrides."""
        return tuple(Override(e.part, e.action, e.replacement) for e in self.overrides)


class PastSet(msgspec.Struct, frozen=True, kw_only=True):
    """One set that a target has had, newest first in its history."""

    version: int
    overrides: tuple[SavedOverride, ...]
    created_by: UUID
    created_at: str
    reason: str | None
