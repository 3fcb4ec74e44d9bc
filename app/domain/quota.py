"""Quota: how much a tenant may use in a period, and how much of it is left.

Two measures, each with a limit of its own. Of one call:

    tokens         = whole input (fresh + cache reads + cache writes) + output
    micro-dollars  = its price; 0 where no price is known

Before a call the most that it can use is reserved, after it the reservation gives way to what it
used. A call belongs to the period in which it ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from enum import StrEnum
from uuid import UUID

from app.domain.ids import rfc3339


class Period(StrEnum):
    """How long a quota lasts before it begins anew, at midnight UTC."""

    DAY = "day"
    MONTH = "month"

    def start(self, at: datetime) -> datetime:
        """The first moment of the period that `at` is in."""
        midnight = datetime.combine(at.date(), time(), at.tzinfo)
        return midnight if self is Period.DAY else midnight.replace(day=1)

    def end(self, at: datetime) -> datetime:
        """The first moment of the next period."""
        # 32 days after the first of a month lies in the next month, whatever their lengths.
        span = timedelta(days=1 if self is Period.DAY else 32)
        return self.start(self.start(at) + span)


@dataclass(frozen=True, slots=True)
class Amount:
    """What calls use or may use, in both measures."""

    tokens: int = 0
    micro_dollars: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """The most of each measure; None: unlimited."""

    tokens: int | None = None
    micro_dollars: int | None = None


@dataclass(frozen=True, slots=True)
class Quota:
    """What a tenant may use per period. Without one it is unlimited."""

    period: Period = Period.MONTH
    limits: Limits = Limits()

    @property
    def is_unlimited(self) -> bool:
        """Whether nothing of it can ever be used up."""
        return self.limits == Limits()


@dataclass(frozen=True, slots=True)
class Reservation:
    """Held back for one call, so that no other call counts on it."""

    id: UUID  # of the call's usage record
    amount: Amount
    lease_until: str  # from then on it holds nothing: its worker is dead


@dataclass(frozen=True, slots=True)
class Standing:
    """A tenant's quota at one moment."""

    quota: Quota
    at: datetime
    used: Amount  # in this period
    reserved: Amount  # by calls that are running

    @property
    def period(self) -> Period:
        """How long the quota lasts."""
        return self.quota.period

    @property
    def limits(self) -> Limits:
        """The most of each measure."""
        return self.quota.limits

    @property
    def resets_at(self) -> str:
        """When the next period begins."""
        return rfc3339(self.period.end(self.at))

    @property
    def left(self) -> Limits:
        """What may still be reserved; None: unlimited."""
        return Limits(
            _left(self.limits.tokens, self.used.tokens, self.reserved.tokens),
            _left(self.limits.micro_dollars, self.used.micro_dollars, self.reserved.micro_dollars),
        )

    def covers(self, amount: Amount) -> bool:
        """Whether so much is left."""
        left = self.left
        return _fits(amount.tokens, left.tokens) and _fits(amount.micro_dollars, left.micro_dollars)


def _left(limit: int | None, *taken: int) -> int | None:
    return None if limit is None else max(0, limit - sum(taken))


def _fits(wanted: int, left: int | None) -> bool:
    return left is None or wanted <= left
