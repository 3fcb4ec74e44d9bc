"""Injections: what an agent has gathered anew before each model call."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.domain.parts import PartId, system_part

Source = Literal["memory", "files"]
State = Literal["gathered", "empty", "failed", "excluded", "not_gathered"]

FILES_LEFT_OUT = "files_left_out"  # there was more text than is searched for one call


class Retrieval(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="retrieval"):
    """Passages of files that share rare words with the user's last text."""

    name: str
    over: tuple[Source, ...]
    passages: int = 5  # at most
    tokens: int = 1000  # at most, all of them together


class Hook(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="http"):
    """A server that is asked before each call, and told afterwards what became of it."""

    name: str
    before_url: str
    after_url: str | None = None  # None: the same
    header_names: tuple[str, ...] = ()  # their values are kept apart, sealed
    timeout_seconds: float = 5.0
    tokens: int = 2000  # a longer answer is not taken


Injection = Retrieval | Hook


class Injected(msgspec.Struct, frozen=True):
    """What gathering one of them came to."""

    name: str
    text: str = ""  # nothing is sent where it is empty
    code: str | None = None  # why there is no text, or not all that there might be

    @property
    def part(self) -> PartId:
        """The part that it becomes."""
        return part_of(self.name)

    @property
    def state(self) -> State:
        """How it went."""
        if self.text:
            return "gathered"
        return "empty" if self.code in (None, FILES_LEFT_OUT) else "failed"


def part_of(name: str) -> PartId:
    """The id of the part that the injection of this name becomes."""
    return system_part("injection", name)
