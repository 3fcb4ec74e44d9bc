"""Tries: one real call with parts left out or replaced, which leaves the session as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec

from app.domain.overrides import Override
from app.domain.pairs import Partner
from app.domain.request_diff import RequestDiff
from app.domain.requests import ModelRequest
from app.domain.snapshots import Snapshot, Totals
from app.domain.work import Loaded, Work


class SentSnapshot(msgspec.Struct, frozen=True):
    """What of the request's snapshot is kept."""

    totals: Totals
    model: str
    request_sha256: str
    parameters: Mapping[str, Any] = {}  # max_tokens, tool_choice, thinking …
    # What was sent differently from the session's plain next call; None: not called, or not kept.
    against_request: RequestDiff | None = None

    @classmethod
    def of(
        cls,
        shown: Snapshot,
        request: ModelRequest,
        against_request: RequestDiff | None = None,
    ) -> SentSnapshot:
        """The few figures of a whole snapshot."""
        sent = (shown.totals, shown.model, shown.request_sha256)
        return cls(*sent, request.all_parameters, against_request)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a try is going to send: accepted, and not yet called."""

    loaded: Loaded
    added: Sequence[Partner]
    snapshot: SentSnapshot
    baseline_id: UUID | None = None  # a try to compare with; None: the plain request
    ablation_id: UUID | None = None  # that it is a part of

    @property
    def overrides(self) -> Sequence[Override]:
        """All that act: the saved ones and the try's own, with pair partners."""
        return self.loaded.overrides

    @property
    def excluded(self) -> list[str]:
        """The parts that are left out."""
        return [each.part for each in self.overrides if each.action == "exclude"]

    @property
    def replaced(self) -> dict[str, str]:
        """By part, the text that stands in for it."""
        return {e.part: e.replacement for e in self.overrides if e.replacement is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Try(Work):
    """A try as it is stored."""

    model: str
    excluded: Sequence[str]
    added: Sequence[Mapping[str, Any]]  # see `Partner`
    replaced: Mapping[str, str]
    snapshot: Mapping[str, object] | None  # see `SentSnapshot`
    answer: str | None  # compact JSON of the blocks
    expires_at: str
    baseline_id: UUID | None  # see `Plan`
    ablation_id: UUID | None
