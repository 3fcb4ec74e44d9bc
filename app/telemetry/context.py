"""What spans say of an assembled request: numbers, and what its overrides came to."""

from __future__ import annotations

from collections.abc import Iterator

from app.domain.parts import AnyPart, seq_of
from app.domain.snapshots import Snapshot
from app.telemetry import names
from app.telemetry.spans import Attributes, Span


def figures(shown: Snapshot) -> Attributes:
    """The size of the request, in parts and tokens."""
    groups = shown.groups
    return {
        names.PARTS_SYSTEM: len(groups.system.parts),
        names.PARTS_TOOLS: len(groups.tools.parts),
        names.PARTS_MESSAGES: len(groups.messages.parts),
        names.TOKENS_BEFORE: shown.totals.before,
        names.TOKENS_AFTER: shown.totals.after,
        names.WOULD_COMPACT: shown.would_compact,
    }


def overridden(shown: Snapshot) -> Attributes:
    """How much of the request people changed by hand."""
    excluded = [part for part in _parts(shown) if not part.included and part.override == "exclude"]
    return {
        names.OVERRIDES: shown.overrides.active,
        names.EXCLUDED_TOKENS: sum(part.tokens for part in excluded),
    }


def tell_overrides(span: Span, shown: Snapshot) -> None:
    """Note on the span what became of overrides other than what was asked for."""
    view = shown.overrides
    if view.suspended is not None:
        at = nameless(view.suspended_at or "")
        span.event(names.SUSPENDED, {names.REASON: view.suspended, names.PART: at})
    for part in _parts(shown):
        if getattr(part, "stale", False):
            span.event(names.STALE, {names.PART: nameless(part.id)})
        elif _is_second_half(part):
            span.event(names.PAIRED, {names.PART: nameless(part.id)})


def nameless(part: str) -> str:
    """A part id without what somebody chose: names of memory files, skills and tools may tell.

    system:memory:/memories/moving-to-oslo.md → system:memory; tool:read_file → tool
    """
    kind, _, name = part.partition(":")
    if kind == "system":
        return f"system:{name.partition(':')[0]}"
    return "tool" if kind == "tool" else part


def _is_second_half(part: AnyPart) -> bool:
    """Of a pair that is left out together, so that each pair is told once."""
    own, pair = seq_of(part.id), getattr(part, "paired_with", None) or ()
    return own is not None and any((seq_of(each) or own) < own for each in pair)


def _parts(shown: Snapshot) -> Iterator[AnyPart]:
    for group in (shown.groups.system, shown.groups.tools, shown.groups.messages):
        yield from group.parts
