"""Measuring beside a yardstick: ratios of pairs, and how time grows with size.

This machine's noise hits both sides of a pair alike, so that a ratio says more than milliseconds.
"""

from __future__ import annotations

import gc
import math
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

Call = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Spread:
    """What was measured: the median, and the lowest and highest that went into it."""

    median: float
    lowest: float
    highest: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.lowest:.2f}..{self.highest:.2f})"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the table: a goal and how it stands. `limit` None: told, not judged."""

    name: str  # of the goal: P1
    what: str  # what is measured over which yardstick
    limit: float | None
    measured: Spread | None  # None: cannot be measured here
    note: str = ""

    @property
    def verdict(self) -> str:
        """Whether the goal is met, in a word."""
        if self.measured is None:
            return "not measured"
        if self.limit is None:
            return "–"
        return "met" if self.measured.median <= self.limit else "MISSED"


def spread(values: Iterable[float]) -> Spread:
    """Of at least one value."""
    found = sorted(values)
    return Spread(median(found), found[0], found[-1])


def seconds(call: Call) -> float:
    """How long one call takes, with the garbage of earlier ones out of its way."""
    gc.collect()
    start = perf_counter()
    call()
    return perf_counter() - start


def pairs(call: Call, yardstick: Call, count: int) -> list[tuple[float, float]]:
    """Seconds of both, in turns after one warm-up each; who begins changes from pair to pair."""
    call()
    yardstick()
    found = []
    for number in range(count):
        if number % 2:
            second = seconds(yardstick)
            found.append((seconds(call), second))
        else:
            first = seconds(call)
            found.append((first, seconds(yardstick)))
    return found


def ratio(call: Call, yardstick: Call, count: int) -> Spread:
    """The time of `call` over that of `yardstick`, pair by pair."""
    return spread(mine / theirs for mine, theirs in pairs(call, yardstick, count))


def exponent(small: float, large: float, times_larger: float) -> float:
    """How time grows with size: 1 is linear, 2 quadratic."""
    return math.log(large / small) / math.log(times_larger)


def cpu_seconds(pid: int) -> float:
    """How much a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
