"""Classes of cl100k tokens: Claude's tokenizers cut some kinds of text finer than cl100k does."""

from __future__ import annotations

import re
from collections.abc import Iterable

# In the order of the numbers that `classes_of` gives. The first that matches is a token's class.
_PATTERNS: dict[str, bytes] = {
    "arrow": rb" ?\xe2\x86\x92",  # → after the line numbers of coding agents' file listings
    "cjk": rb" ?[\xe3-\xed][\x80-\xbf]*.*",  # by the first byte: U+3000 to U+DFFF, or its start
    "nonascii": rb".*[\x80-\xff].*",
    "space": rb"\s+",
    "digits": rb"\d+",
    "word": rb" [A-Za-z]{1,7}",
    "longword": rb" [A-Za-z]{8,}",
    "frag": rb"[A-Za-z]+",  # letters without a space before them
    "punctword": rb".*[A-Za-z].*",  # letters mixed with other ASCII: .get _name 's
    "punctline": rb".*\n.*",  # other ASCII that runs into the end of a line
    "punct": rb".*",
}

CLASSES = tuple(_PATTERNS)

_CLASS = re.compile(b"|".join(b"(%b)" % each for each in _PATTERNS.values()), re.DOTALL)


def classes_of(tokens: Iterable[bytes]) -> bytes:
    """The class of each token, as an index into CLASSES."""
    match = _CLASS.fullmatch
    return bytes((match(token).lastindex or 0) - 1 for token in tokens)  # type: ignore[union-attr]
