"""What all of hango's processes together have to do, and have done: figures for operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class OpenWork:
    """Runs or tries of one status that have not ended."""

    kind: str  # run, try
    status: str  # queued, running
    number: int
    oldest_seconds: float


@dataclass(frozen=True, slots=True)
class Stored:
    """The figures that the database knows. Of all tenants."""

    open_work: Sequence[OpenWork]
    calls_under_way: int  # model calls whose outcome is not on record yet
    tokens: int  # of all calls that were settled, input and output, cached ones included
    micro_dollars: int  # what they cost, where a price was known
    overrides: Mapping[UUID, int]  # in force, by tenant; those without any are left out


@dataclass(frozen=True, slots=True)
class Measures:
    """All figures."""

    stored: Stored
    jobs_waiting: Mapping[str, int]  # by queue
