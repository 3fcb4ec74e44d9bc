"""What two calls were sent differently, part by part. Pure.

`before` is the baseline, `after` the call that is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from app.domain.usage import SentPart

PartChangeKind = Literal["left_out", "brought_back", "replaced", "added", "gone", "changed"]


class Tokens(msgspec.Struct, frozen=True):
    """What something costs on both sides; 0 where it is not sent."""

    before: int
    after: int


class PartChange(msgspec.Struct, frozen=True, kw_only=True):
    """A part that the two calls do not have alike."""

    part: str
    kind: str
    change: PartChangeKind
    tokens: Tokens
    before_sha256: str | None  # None: not listed there
    after_sha256: str | None


class ParameterChange(msgspec.Struct, frozen=True):
    """A parameter of the request beside its parts; None: it had none."""

    name: str
    before: Any
    after: Any


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """What one call was sent, without any content."""

    model: str
    tokens: int  # the whole request
    request_sha256: str
    parameters: Mapping[str, Any]
    parts: Sequence[SentPart]


class RequestDiff(msgspec.Struct, frozen=True, kw_only=True):
    """What was sent differently."""

    same: bool  # byte for byte
    before_sha256: str
    after_sha256: str
    before_model: str
    after_model: str
    tokens: Tokens
    parameters: Sequence[ParameterChange]
    parts: Sequence[PartChange]
    unchanged: int  # parts


def requests_differ(before: Sent, after: Sent) -> RequestDiff:
    """Compare two requests part by part."""
    changes = [*_part_changes(before.parts, after.parts)]
    listed = {each.id for each in (*before.parts, *after.parts)}
    return RequestDiff(
        same=before.request_sha256 == after.request_sha256,
        before_sha256=before.request_sha256,
        after_sha256=after.request_sha256,
        before_model=before.model,
        after_model=after.model,
        tokens=Tokens(before.tokens, after.tokens),
        parameters=[*_parameter_changes(before.parameters, after.parameters)],
        parts=changes,
        unchanged=len(listed) - len(changes),
    )


def nothing_differs(sent: Sent) -> RequestDiff:
    """A request compared with itself: its parts, of which there may be many, are only counted."""
    bare = msgspec.structs.replace(sent, parts=())
    return msgspec.structs.replace(requests_differ(bare, bare), unchanged=len(sent.parts))


def _part_changes(before: Sequence[SentPart], after: Sequence[SentPart]) -> Iterator[PartChange]:
    """In the order of the second request; what only the first lists comes last."""
    old = {each.id: each for each in before}
    for now in after:
        was = old.pop(now.id, None)
        if change := _change(was, now):
            yield _part_change(change, was, now)
    for was in old.values():
        if was.included:
            yield _part_change("gone", was, None)


def _change(was: SentPart | None, now: SentPart) -> PartChangeKind | None:
    if not now.included:
        return "left_out" if was and was.included else None
    if was is None:
        return "added"
    if not was.included:
        return "brought_back"
    if was.sha256 == now.sha256:
        return None
    return "replaced" if now.override == "replace" else "changed"


def _part_change(change: PartChangeKind, was: SentPart | None, now: SentPart | None) -> PartChange:
    known = now or was
    assert known is not None  # noqa: S101 - for mypy: a change has a side
    return PartChange(
        part=known.id,
        kind=known.kind,
        change=change,
        tokens=Tokens(_cost(was), _cost(now)),
        before_sha256=was.sha256 if was else None,
        after_sha256=now.sha256 if now else None,
    )


def _cost(part: SentPart | None) -> int:
    return part.tokens if part and part.included else 0


def _parameter_changes(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[ParameterChange]:
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            yield ParameterChange(name, before.get(name), after.get(name))
