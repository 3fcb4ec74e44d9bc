"""Names and ids of tools that a provider takes, the same on both sides."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

from app.importers.report import Tally

MAX_TOOL_NAME = 64  # the documented pattern; the API itself takes up to 128
MAX_ID = 128
_BAD = re.compile(r"[^a-zA-Z0-9_-]", re.ASCII)


class ToolNames:
    """Gives each tool of a source one name that is valid and no other tool's."""

    def __init__(self, tally: Tally) -> None:
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()
        self._numbers: Counter[str] = Counter()
        self._tally = tally

    def of(self, name: object) -> str:
        """The name for the source's tool `name`; the same for each mention."""
        source = name if isinstance(name, str) and name else "unnamed"
        if source not in self._given:
            self._given[source] = self._new(source)
        return self._given[source]

    @property
    def all(self) -> list[str]:
        """Every name given so far, sorted."""
        return sorted(self._taken)

    def _new(self, source: str) -> str:
        name = _bounded(_BAD.sub("_", source), source, MAX_TOOL_NAME)
        stem = _bounded(name, source, MAX_TOOL_NAME - 8)
        while name in self._taken:
            self._numbers[stem] += 1
            name = f"{stem}_{self._numbers[stem] + 1}"
        if name != source:
            self._tally.repair("tool_renamed")
        self._taken.add(name)
        return name


def plain_id(source: str) -> str:
    """The id with every character that the provider refuses replaced, and not too long."""
    return _bounded(_BAD.sub("_", source), source, MAX_ID)


def _bounded(name: str, source: str, most: int) -> str:
    """The name itself, or its start and a digest of the source where it is too long."""
    if len(name) <= most:
        return name
    digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: most - 9]}_{digest}"
