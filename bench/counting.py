"""Counting: hostile texts, and pieces beside the whole (P30, P31), out of bench/tokens.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from app.tokens.pieces import PIECE, pieces
from bench.measure import Finding, Spread, spread
from bench.measurements import ENCODE
from bench.servers import Ground
from bench.tokens import BYTES, PAIRS, WHOLE, hostile, prose, seconds


def hostile_texts(_: Ground) -> Iterator[Finding]:
    """P30: the slowest of the hostile texts over prose. An exception would end it all."""
    plain = prose()
    seconds(plain)
    found = {
        name: spread(seconds(text) / seconds(plain) for _ in range(PAIRS))
        for name, text in hostile(BYTES).items()
    }
    worst = max(found, key=lambda name: found[name].median)
    what = f"count 4 MB of the worst of {len(found)} texts / of prose"
    yield Finding("P30", what, 6, found[worst], f"worst: {worst}")


def in_pieces(_: Ground) -> Iterator[Finding]:
    """P31: counts in pieces, which are what the estimator weighs, against counts at once."""
    short = _errors(PIECE)
    yield Finding("P31", "error in % of texts of 16,384 characters", 0, short)
    yield Finding("P31", f"error in % of texts of {WHOLE:,} characters", 0.05, _errors(WHOLE))


GOALS: Mapping[str, Callable[[Ground], Iterator[Finding]]] = {
    "P30": hostile_texts,
    "P31": in_pieces,
}


def _errors(characters: int) -> Spread:
    """The largest deviation over all texts, and the range of the deviations."""
    texts = [prose()[:characters], *(text[:characters] for text in hostile(WHOLE).values())]
    errors = [_error(text) for text in texts]
    return Spread(max(map(abs, errors)), min(errors), max(errors))


def _error(text: str) -> float:
    whole = len(ENCODE(text))
    return 100 * (sum(len(ENCODE(piece)) for piece in pieces(text)) / whole - 1)
