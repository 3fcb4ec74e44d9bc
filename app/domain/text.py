"""Text that every store, log and provider takes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

REPLACEMENT = "\ufffd"

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def clean(text: str) -> str:
    """`text` without NUL and lone surrogates: each becomes U+FFFD.

    PostgreSQL takes neither in text nor in jsonb, and UTF-8 has no form for a surrogate. The two
    halves of a pair that arrived as two characters become the character that they mean.
    """
    if not _UNSTORABLE.search(text):
        return text
    paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return paired.replace("\0", REPLACEMENT)


def clean_json(value: Any) -> Any:
    """A JSON value with every string cleaned, the keys of objects too."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, (list, tuple)):
        return [clean_json(item) for item in value]
    if isinstance(value, Mapping):
        return {clean_json(key): clean_json(item) for key, item in value.items()}
    return value
