"""The report of an import: what was read, made, dropped and repaired. Numbers and names of kinds.

No content, key, header or address ever stands in it: a kind is named only when it looks like a
kind, and everything else of the source is counted.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

_KIND = re.compile(r"[A-Za-z0-9_<>\[\]:/.()+ -]{1,80}", re.ASCII)
_SECRET = re.compile(r"\b(sk|hk|pk|ghp|xox[abp])[-_]", re.ASCII)


def kind(text: object) -> str:
    """The name of a kind from a source (a record type, a model), or "other" for anything else."""
    if isinstance(text, str) and _KIND.fullmatch(text) and not _SECRET.search(text):
        return text
    return "other"


class Tally:
    """Counts what happens to one conversation while it is read."""

    def __init__(self) -> None:
        self.records: Counter[str] = Counter()
        self.messages: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()
        self.repaired: Counter[str] = Counter()
        self.kept: Counter[str] = Counter()
        self.models: Counter[str] = Counter()
        self.facts: dict[str, Any] = {}  # what only one format has to say: branch, subagents …

    def record(self, name: object) -> None:
        """A record of the source was read."""
        self.records[kind(name)] += 1

    def message(self, role: object) -> None:
        """A message of the source was read, in formats whose records are more than messages."""
        self.messages[f"message:{kind(role)}"] += 1

    def drop(self, reason: str, count: int = 1) -> None:
        """Something of the source is not in the session."""
        if count:
            self.dropped[reason] += count

    def repair(self, what: str, count: int = 1) -> None:
        """Something was changed, so that a provider takes it."""
        if count:
            self.repaired[what] += count

    def keep(self, what: str, count: int = 1) -> None:
        """Something was kept that hango does not understand."""
        if count:
            self.kept[what] += count

    def model(self, name: object) -> None:
        """A model call was recorded."""
        if isinstance(name, str) and name:
            self.models[kind(name)] += 1
