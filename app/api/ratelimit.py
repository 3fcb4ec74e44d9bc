"""How often one key may ask, shared by all web processes: a token bucket in Redis.

The bucket refills evenly, so that no edge of a window lets a double portion through. It is one
Redis key holding one time (the generic cell rate algorithm): when the bucket will be full again.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from app.errors import BrokerUnavailable, RateLimited
from app.runtime import redis_fails

if TYPE_CHECKING:
    from redis import Redis

log = structlog.get_logger(__name__)

WINDOW = timedelta(minutes=1)
_REST_SECONDS = 5.0  # how long Redis is left alone after it failed to answer

# Times are microseconds of sixteen digits; Lua alone would write them rounded, as 1.7645e+15.
_TAKE = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local size, interval = tonumber(ARGV[1]), tonumber(ARGV[2])
local taken = interval * tonumber(ARGV[3])
local full_at = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now) + taken
local missing = full_at - now
if missing > size * interval then
  return {0, 0, missing - size * interval}
end
redis.call('SET', KEYS[1], string.format('%.0f', full_at), 'PX', math.ceil(missing / 1000))
return {1, math.floor((size * interval - missing) / interval), missing}
"""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a bucket said to one request."""

    allowed: bool
    left: int  # requests that would pass right now
    seconds: int  # until the bucket is full; of a refused request, until one passes. Rounded up


class RateLimiter:
    """Buckets of one size. Lets everything pass that costs no money while Redis does not answer."""

    def __init__(self, redis: Redis, per_minute: int) -> None:
        self.per_minute = per_minute
        self._take = redis.register_script(_TAKE)
        self._resting_until = 0.0

    def take(self, bucket: str, *, costs_money: bool = False, count: int = 1) -> Allowance | None:
        """Count `count` requests against the bucket, or none; None where nothing is limited.

        Raises:
            RateLimited: the bucket is empty.
            BrokerUnavailable: Redis does not answer, and the request would cost money.
        """
        if not self.per_minute:
            return None
        allowance = self._ask(bucket, count)
        if allowance is None and costs_money:
            raise BrokerUnavailable("Try again in a moment.")
        if allowance is not None and not allowance.allowed:
            raise RateLimited(
                f"Wait {allowance.seconds} s.",
                headers={"Retry-After": str(allowance.seconds)} | self.headers(allowance),
            )
        return allowance

    def headers(self, allowance: Allowance) -> dict[str, str]:
        """The fields of draft-ietf-httpapi-ratelimit-headers-11."""
        return {
            "RateLimit-Policy": f'"key";q={self.per_minute};w={int(WINDOW.total_seconds())}',
            "RateLimit": f'"key";r={allowance.left};t={allowance.seconds}',
        }

    def _ask(self, bucket: str, count: int) -> Allowance | None:
        if time.monotonic() < self._resting_until:
            return None
        interval = int(WINDOW.total_seconds() * 1_000_000 / self.per_minute)
        try:
            passed, left, missing = self._take(
                keys=[f"hango:rate:{bucket}"], args=[self.per_minute, interval, count]
            )
        except redis_fails() as error:
            # Each request would wait for the same timeout; one in a while finds out.
            self._resting_until = time.monotonic() + _REST_SECONDS
            log.warning("rate_limit_open", kind=type(error).__name__)
            return None
        return Allowance(bool(passed), left, math.ceil(missing / 1_000_000))
