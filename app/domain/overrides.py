"""Overrides: saved wishes to leave a part out of the outgoing request, or to replace it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import msgspec

Action = Literal["exclude", "replace"]


class Override(msgspec.Struct, frozen=True):
    """One saved wish about one part. `replacement` is there exactly for `replace`."""

    part: str
    action: Action
    replacement: str | None = None


class OverrideSet:
    """The overrides that one run goes by: the agent's and the session's together."""

    __slots__ = ("_by_part",)

    def __init__(self, overrides: Iterable[Override] = ()) -> None:
        self._by_part: Mapping[str, Override] = {each.part: each for each in overrides}

    def __len__(self) -> int:
        return len(self._by_part)

    def __iter__(self) -> Iterator[Override]:
        return iter(self._by_part.values())

    def excludes(self, part: str) -> bool:
        """Whether this part is to be left out."""
        found = self._by_part.get(part)
        return found is not None and found.action == "exclude"

    def replacement(self, part: str) -> str | None:
        """The text that stands in for this part, or None."""
        found = self._by_part.get(part)
        return found.replacement if found else None

    def state_of(self, part: str) -> Literal["none", "exclude", "replace"]:
        """What inspect says of this part."""
        found = self._by_part.get(part)
        return found.action if found else "none"

    def on_messages(self) -> bool:
        """Whether any of them acts on the history."""
        return any(part.startswith("message:") or part == "summary" for part in self._by_part)


NO_OVERRIDES = OverrideSet()
