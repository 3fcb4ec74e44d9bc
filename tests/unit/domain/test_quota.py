"""Periods and what is left in them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain.quota import Amount, Limits, Period, Quota, Standing

AT = datetime(2026, 11, 30, 23, 59, 59, 999_999, tzinfo=UTC)


@pytest.mark.parametrize(
    ("period", "at", "start", "end"),
    [
        (Period.DAY, "2026-11-30T23:59:59+00:00", "2026-11-30", "2026-12-01"),
        (Period.DAY, "2026-12-01T00:00:00+00:00", "2026-12-01", "2026-12-02"),
        (Period.DAY, "2028-02-28T12:00:00+00:00", "2028-02-28", "2028-02-29"),
        (Period.MONTH, "2026-11-30T23:59:59+00:00", "2026-11-01", "2026-12-01"),
        (Period.MONTH, "2026-12-31T12:00:00+00:00", "2026-12-01", "2027-01-01"),
        (Period.MONTH, "2027-01-31T12:00:00+00:00", "2027-01-01", "2027-02-01"),
        (Period.MONTH, "2028-02-29T12:00:00+00:00", "2028-02-01", "2028-03-01"),
    ],
)
def test_a_period_begins_and_ends_at_midnight(period, at, start, end):
    moment = datetime.fromisoformat(at)

    assert period.start(moment).isoformat() == f"{start}T00:00:00+00:00"
    assert period.end(moment).isoformat() == f"{end}T00:00:00+00:00"


def standing(tokens: int | None, micro_dollars: int | None) -> Standing:
    quota = Quota(Period.MONTH, Limits(tokens, micro_dollars))
    return Standing(quota, AT, used=Amount(600, 60), reserved=Amount(300, 30))


def test_what_is_reserved_is_not_left():
    assert standing(1_000, 100).left == Limits(100, 10)


def test_a_limit_that_was_lowered_leaves_nothing():
    assert standing(10, 0).left == Limits(0, 0)


def test_without_a_limit_everything_is_covered():
    assert standing(None, None).left == Limits(None, None)
    assert standing(None, None).covers(Amount(10**15, 10**15))


@pytest.mark.parametrize(
    ("amount", "covered"),
    [
        (Amount(100, 10), True),
        (Amount(101, 10), False),
        (Amount(100, 11), False),
        (Amount(0, 0), True),
    ],
)
def test_both_measures_have_to_be_left(amount, covered):
    assert standing(1_000, 100).covers(amount) is covered
