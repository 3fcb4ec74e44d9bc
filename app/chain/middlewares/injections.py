"""Injections: what was gathered for this call alone."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.chain.middleware import Middleware
from app.domain.injections import Injected
from app.domain.requests import RunState, SystemBlock


class Gathered(msgspec.Struct, frozen=True):
    """What each injection came to; None: nobody gathered any."""

    injected: Sequence[Injected] | None


class Injections(Middleware):
    """Contributes one block for each injection that brought a text.

    Gathering takes time and reaches outside, so it is done before the chain is asked, with
    nothing open: see app/services/injections.py.
    """

    def __init__(self, injected: Sequence[Injected] | None = None) -> None:
        self._injected = injected

    def before_run(self, state: RunState) -> None:
        """Keep what was gathered, for the snapshot."""
        state.put(Gathered(self._injected))

    def system_blocks(self, state: RunState) -> Sequence[SystemBlock]:
        del state
        return [
            SystemBlock(each.part, each.text, "injections", f"injection {each.name}", volatile=True)
            for each in self._injected or ()
            if each.text
        ]
