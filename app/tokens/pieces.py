"""Cutting long texts, so that the tokenizer's worst cases stay small.

tiktoken panics on about a million blanks in a row and is slow on long runs without a break. In
pieces of PIECE characters neither happens. A cut where cl100k ends a token anyway changes no count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

PIECE = 16_384  # characters
_WINDOW = 256  # how far before the limit a harmless cut is looked for

# Behind a run of letters or digits, before a single blank, behind a line's end: whatever stands
# on both sides, cl100k starts a new token there.
_HARMLESS_CUT = re.compile(r"(?<=[^\W_])(?=[\W_])|(?<=\S)(?= \S)|(?<=[\r\n])(?=\S)")


def pieces(text: str) -> Iterator[str]:
    """`text` in order, in pieces of at most PIECE characters."""
    start = 0
    while len(text) - start > PIECE:
        end = _cut(text, start + PIECE)
        yield text[start:end]
        start = end
    yield text[start:]


def _cut(text: str, limit: int) -> int:
    """The last harmless cut close before `limit`; `limit` itself where there is none."""
    end = limit
    for found in _HARMLESS_CUT.finditer(text, limit - _WINDOW, limit + 2):
        if found.start() <= limit:
            end = found.start()
    return end
