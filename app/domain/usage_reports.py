"""Usage as people read it: sums over model calls, and how well their size was estimated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class GroupBy(StrEnum):
    """What the calls of one row have in common."""

    PURPOSE = "purpose"
    AGENT = "agent"
    MODEL = "model"
    DAY = "day"  # UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Sums over calls. A figure that the provider did not give adds nothing."""

    calls: int = 0
    input_tokens: int = 0  # cached ones not included
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    cost_micro_dollars: int = 0
    unpriced_calls: int = 0  # whose price is not known: they are not in the cost

    @property
    def whole_input_tokens(self) -> int:
        """Every token that the models were given, cached ones included."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow(Figures):
    """The calls of one purpose, agent, model or day."""

    key: str | None  # None: the agent is gone
    name: str | None = None  # of the agent, where the principal may read it


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateRow:
    """Billed against estimated input, over the calls of one model and estimator that succeeded."""

    model: str
    estimator: str
    calls: int
    billed_tokens: int  # the whole input
    estimated_tokens: int
    mean_error: float  # of a call: how far off, whichever way, as a share of what was billed
    largest_error: float

    @property
    def error(self) -> float:
        """Of the sums: above 0 where too much was estimated."""
        return self.estimated_tokens / self.billed_tokens - 1


def total(rows: Iterable[Figures]) -> Figures:
    """The sums over all rows."""
    found = list(rows)
    return Figures(**{name: sum(getattr(row, name) for row in found) for name in SUMMED})


SUMMED = tuple(Figures.__dataclass_fields__)
