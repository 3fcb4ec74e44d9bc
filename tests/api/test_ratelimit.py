"""Rate limits: per key, shared through Redis, and open when Redis is away."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from app.api.ratelimit import RateLimiter
from app.errors import BrokerUnavailable
from app.runtime import Runtime, redis_client
from app.settings import Secret
from app.web import create_app
from tests.api.problems import assert_problem
from tests.factories import Caller


def limited(runtime: Runtime, per_minute: int) -> FlaskClient:
    settings = replace(runtime.settings, rate_limit_per_minute=per_minute)
    return create_app(replace(runtime, settings=settings)).test_client()


def test_a_key_is_stopped_at_its_limit_and_told_when_to_come_back(
    runtime: Runtime, member: Caller
) -> None:
    caller = replace(member, client=limited(runtime, 3))

    passed = [caller.get("/v1/me") for _ in range(3)]
    stopped = caller.get("/v1/me")

    assert [reply.status_code for reply in passed] == [200, 200, 200]
    assert passed[0].headers["RateLimit-Policy"] == '"key";q=3;w=60'
    left = [re.fullmatch(r'"key";r=(\d+);t=(\d+)', r.headers["RateLimit"]) for r in passed]
    assert [int(match[1]) for match in left if match] == [2, 1, 0]
    assert [int(match[2]) for match in left if match] == [20, 40, 60]
    assert_problem(stopped, 429, "rate_limited")
    assert stopped.headers["RateLimit"].startswith('"key";r=0;t=')
    assert 1 <= int(stopped.headers["Retry-After"]) <= 20


def test_each_key_has_its_own_limit_over_all_processes(
    runtime: Runtime, member: Caller, other_member: Caller
) -> None:
    one, two = (replace(member, client=limited(runtime, 2)) for _ in range(2))

    assert one.get("/v1/me").status_code == 200
    assert two.get("/v1/me").status_code == 200
    assert_problem(one.get("/v1/me"), 429)
    assert_problem(two.get("/v1/me"), 429)
    assert replace(other_member, client=one.client).get("/v1/me").status_code == 200


def test_failed_sign_ins_are_limited_by_address_without_locking_out_good_keys(
    runtime: Runtime, member: Caller
) -> None:
    client = limited(runtime, 2)
    bad = {"x-api-key": "guess"}

    replies = [client.get("/v1/me", headers=bad) for _ in range(3)]

    assert [reply.status_code for reply in replies] == [401, 401, 429]
    assert replace(member, client=client).get("/v1/me").status_code == 200


def test_every_bucket_vanishes_by_itself(runtime: Runtime, member: Caller) -> None:
    replace(member, client=limited(runtime, 3)).get("/v1/me")

    keys = runtime.redis.keys("hango:rate:*")
    assert len(keys) == 1
    assert 0 < runtime.redis.pttl(keys[0]) <= 60_000


def test_a_bucket_refills_evenly(runtime: Runtime) -> None:
    limiter = RateLimiter(runtime.redis, 60)
    for _ in range(60):
        limiter.take("b")
    full_at = int(runtime.redis.get("hango:rate:b"))

    runtime.redis.set("hango:rate:b", full_at - 10_000_000)  # as if ten seconds had passed

    passed = 0
    allowance = limiter.take("b")
    assert allowance is not None
    passed = 1 + allowance.left
    assert passed in (10, 11)


def test_without_a_limit_nothing_is_counted(runtime: Runtime, member: Caller) -> None:
    reply = member.get("/v1/me")

    assert "RateLimit" not in reply.headers
    assert runtime.redis.keys("hango:rate:*") == []


def test_while_redis_is_away_all_pass_but_what_costs_money(
    runtime: Runtime, member: Caller
) -> None:
    away = redis_client(replace(runtime.settings, redis_url=Secret("redis://127.0.0.1:9")))
    settings = replace(runtime.settings, rate_limit_per_minute=1)
    client = create_app(replace(runtime, settings=settings, redis=away)).test_client()
    caller = replace(member, client=client)

    for _ in range(3):
        assert caller.get("/v1/me").status_code == 200
        assert caller.post("/v1/agents", json={"name": "a"}).status_code == 201
    with pytest.raises(BrokerUnavailable):
        RateLimiter(away, 1).take("b", costs_money=True)
