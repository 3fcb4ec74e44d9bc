"""Quota in the database: reserved before a call, settled after it, never exceeded."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from app.domain.audit import Action
from app.domain.ids import new_id
from app.domain.principals import Principal
from app.domain.quota import Amount, Limits, Period, Quota, Reservation, Standing
from app.domain.usage import EndedCall
from app.errors import NotFound, QuotaExceeded
from app.services import quota
from app.store.transaction import Database

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
LEASE = timedelta(minutes=5)
CALL = Amount(100, 1_000)
MODEL = "claude-opus-5-5"
# 7 x $4 + 9,000 x $0.20 + 1,000 x $5 + 5 x $20, per million
CACHED = EndedCall(
    outcome="succeeded",
    latency_ms=1,
    input_tokens=7,
    cache_read_tokens=9_000,
    cache_write_tokens=1_000,
    output_tokens=5,
    cost_micro_dollars=6_928,
)


def limit(
    database: Database,
    admin: Principal,
    tokens: int | None = None,
    micro_dollars: int | None = None,
    period: Period = Period.MONTH,
) -> None:
    with database.transaction(admin) as tx:
        quota.replace(tx, Quota(period, Limits(tokens, micro_dollars)), now=NOW)


def reserve(
    database: Database, principal: Principal, amount: Amount = CALL, now: datetime = NOW
) -> Reservation:
    with database.transaction(principal) as tx:
        return quota.reserve(tx, new_id(), amount, now=now, lease=LEASE)


def settle(
    database: Database,
    principal: Principal,
    held: Reservation,
    used: Amount,
    now: datetime = NOW,
) -> None:
    with database.transaction(principal) as tx:
        quota.settle(tx, held.id, used, now=now)


def standing(database: Database, principal: Principal, now: datetime = NOW) -> Standing:
    with database.reading(principal) as tx:
        return quota.show(tx, now=now)


def test_without_a_quota_everything_passes_and_is_counted(database, people):
    held = reserve(database, people.alice, Amount(10**12, 10**12))
    settle(database, people.alice, held, CALL)

    assert standing(database, people.alice).left == Limits(None, None)
    assert standing(database, people.alice).used == CALL


def test_a_reservation_is_held_until_it_is_settled(database, people):
    limit(database, people.admin, tokens=1_000, micro_dollars=5_000)
    held = reserve(database, people.alice)

    before = standing(database, people.bob)
    settle(database, people.alice, held, Amount(40, 400))
    after = standing(database, people.bob)

    assert (before.used, before.reserved, before.left) == (Amount(), CALL, Limits(900, 4_000))
    assert (after.used, after.reserved, after.left) == (
        Amount(40, 400),
        Amount(),
        Limits(960, 4_600),
    )


def test_a_call_that_was_not_billed_gives_all_of_it_back(database, people):
    limit(database, people.admin, tokens=100)
    settle(database, people.alice, reserve(database, people.alice), Amount())

    assert standing(database, people.alice).left.tokens == 100


@pytest.mark.parametrize("limits", [{"tokens": 99}, {"micro_dollars": 999}, {"tokens": 0}])
def test_too_little_left_is_told_and_nothing_is_held(database, people, limits):
    limit(database, people.admin, **limits)

    with pytest.raises(QuotaExceeded) as refused:
        reserve(database, people.alice)

    left = {"tokens": None, "micro_dollars": None} | limits
    assert refused.value.extensions == {
        "left": left,
        "resets_at": "2026-12-01T00:00:00.000000Z",
    }
    assert refused.value.headers == {}
    assert standing(database, people.alice).reserved == Amount()


def test_cached_tokens_count_once_and_the_cost_is_theirs(database, people):
    held = reserve(database, people.alice, Amount(20_000, 200_000))

    for _ in range(2):
        settle(database, people.alice, held, quota.spent(CACHED))

    assert standing(database, people.alice).used == Amount(10_012, 6_928)


def test_the_most_that_a_call_can_use_covers_what_it_uses():
    most = quota.most("anthropic", MODEL, input_tokens=10_007, max_tokens=5, at=NOW)

    used = quota.spent(CACHED)

    assert most.tokens == used.tokens
    assert most.micro_dollars >= used.micro_dollars > 0


def test_a_model_without_a_price_counts_by_its_tokens():
    most = quota.most("anthropic", "nobody-knows-it", input_tokens=10, max_tokens=5, at=NOW)

    assert most == Amount(15, 0)


def test_of_fifty_at_once_no_more_pass_than_the_quota_holds(database, people):
    limit(database, people.admin, tokens=10 * CALL.tokens)

    with ThreadPoolExecutor(10) as pool:
        passed = list(pool.map(lambda _: attempt(database, people.alice), range(50)))

    assert sum(each is not None for each in passed) == 10
    assert standing(database, people.alice).left.tokens == 0


def test_reserved_and_used_never_exceed_the_quota_while_calls_come_and_go(database, people):
    limit(database, people.admin, micro_dollars=10 * CALL.micro_dollars)
    seen: list[Standing] = []

    def call(number: int) -> None:
        held = attempt(database, people.alice)
        if held is not None:
            used = Amount(1, random.Random(number).randint(0, CALL.micro_dollars))
            settle(database, people.alice, held, used)
        seen.append(standing(database, people.bob))

    with ThreadPoolExecutor(10) as pool:
        list(pool.map(call, range(60)))

    taken = [each.used.micro_dollars + each.reserved.micro_dollars for each in seen]
    assert max(taken) <= 10 * CALL.micro_dollars
    assert seen[-1].used.micro_dollars > 5 * CALL.micro_dollars


def attempt(database: Database, principal: Principal) -> Reservation | None:
    try:
        return reserve(database, principal)
    except QuotaExceeded:
        return None


def test_what_a_dead_worker_held_is_free_after_its_lease(database, people):
    limit(database, people.admin, tokens=CALL.tokens)
    reserve(database, people.alice)

    with pytest.raises(QuotaExceeded):
        reserve(database, people.bob, now=NOW + LEASE - timedelta(seconds=1))

    assert reserve(database, people.bob, now=NOW + LEASE)


def test_a_worker_that_was_only_slow_still_counts_what_it_used(database, people):
    held = reserve(database, people.alice)

    settle(database, people.alice, held, CALL, now=NOW + 2 * LEASE)

    assert standing(database, people.alice, NOW + 2 * LEASE).used == CALL


def test_old_reservations_are_forgotten_and_running_ones_are_not(database, people):
    old = reserve(database, people.alice, now=NOW - quota.KEPT_AFTER_LEASE - LEASE)
    settle(database, people.alice, old, CALL)
    reserve(database, people.alice)

    with database.system() as system:
        purged = [system.quota.purge(NOW, quota.KEPT_AFTER_LEASE) for _ in range(2)]

    assert purged == [1, 0]
    assert standing(database, people.alice).reserved == CALL


def test_a_new_period_begins_with_all_of_it(database, people):
    limit(database, people.admin, tokens=150, period=Period.MONTH)
    settle(database, people.alice, reserve(database, people.alice), CALL)

    assert standing(database, people.alice, NOW + timedelta(hours=11)).left.tokens == 50
    assert standing(database, people.alice, NOW + timedelta(hours=12)).left.tokens == 150


def test_another_period_knows_what_was_used_before(database, people):
    yesterday = NOW - timedelta(days=1)
    held = reserve(database, people.alice, now=yesterday)
    settle(database, people.alice, held, Amount(30), now=yesterday)
    settle(database, people.alice, reserve(database, people.alice), Amount(7))

    limit(database, people.admin, tokens=100, period=Period.DAY)
    daily = standing(database, people.alice)
    limit(database, people.admin, tokens=100, period=Period.MONTH)
    monthly = standing(database, people.alice)

    assert (daily.used.tokens, monthly.used.tokens) == (7, 37)


def test_check_stops_only_where_nothing_is_left(database, people):
    limit(database, people.admin, tokens=CALL.tokens + 1)
    with database.transaction(people.alice) as tx:
        quota.check(tx, now=NOW)
    reserve(database, people.alice, Amount(CALL.tokens + 1))

    with database.reading(people.alice) as tx, pytest.raises(QuotaExceeded):
        quota.check(tx, now=NOW)


def test_a_member_sets_no_quota_and_an_admin_is_audited(database, people):
    with database.transaction(people.alice) as tx, pytest.raises(NotFound):
        tx.quota.put(Quota())
    limit(database, people.admin, tokens=5)

    with database.reading(people.admin) as tx:
        (event,) = tx.audit.page(None, 50).items
    assert event.action is Action.QUOTA_UPDATE
    assert event.detail == {"period": "month", "tokens": 5, "micro_dollars": None}


def test_tenants_have_quotas_of_their_own(database, people):
    limit(database, people.admin, tokens=CALL.tokens)
    reserve(database, people.alice)

    assert reserve(database, people.eve, Amount(10**9))
    assert standing(database, people.eve).limits == Limits()
