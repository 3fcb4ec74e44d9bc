"""The quota over HTTP: read by all, set by admins."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.api import problems
from app.domain.ids import new_id, now
from app.domain.quota import Amount, Quota
from app.errors import QuotaExceeded
from app.runtime import Runtime
from app.services import quota
from tests.api.problems import assert_problem, codes
from tests.factories import Caller

UNLIMITED = {"tokens": None, "micro_dollars": None}


def test_without_limits_nothing_runs_out(member: Caller) -> None:
    reply = member.get("/v1/quota")

    assert reply.status_code == 200
    assert reply.json == {
        "period": "month",
        "limits": UNLIMITED,
        "used": {"tokens": 0, "micro_dollars": 0},
        "reserved": {"tokens": 0, "micro_dollars": 0},
        "left": UNLIMITED,
        "resets_at": Quota().period.end(now()).strftime("%Y-%m-%dT00:00:00.000000Z"),
    }


def test_an_admin_sets_what_its_members_share(
    admin: Caller, member: Caller, runtime: Runtime
) -> None:
    body = {"period": "day", "tokens": 1_000, "micro_dollars": None}
    with runtime.database.transaction(member.principal) as tx:
        held = quota.reserve(tx, new_id(), Amount(300, 5), now=now(), lease=timedelta(hours=1))
        quota.settle(tx, held.id, Amount(100, 4), now=now())
        quota.reserve(tx, new_id(), Amount(200, 2), now=now(), lease=timedelta(hours=1))

    put = admin.put("/v1/quota", json=body)

    assert put.status_code == 200, put.text
    assert put.json == member.get("/v1/quota").json
    assert put.json["limits"] == {"tokens": 1_000, "micro_dollars": None}
    assert put.json["used"] == {"tokens": 100, "micro_dollars": 4}
    assert put.json["reserved"] == {"tokens": 200, "micro_dollars": 2}
    assert put.json["left"] == {"tokens": 700, "micro_dollars": None}


def test_a_month_is_the_default_period(admin: Caller) -> None:
    assert admin.put("/v1/quota", json=UNLIMITED).json["period"] == "month"


@pytest.mark.parametrize(
    ("change", "at"),
    [
        ({"tokens": -1}, "tokens"),
        ({"tokens": 10**15 + 1}, "tokens"),
        ({"tokens": 1.5}, "tokens"),
        ({"micro_dollars": "5"}, "micro_dollars"),
        ({"micro_dollars": True}, "micro_dollars"),
        ({"period": "year"}, "period"),
        ({"period": None}, "period"),
        ({"used": {}}, "used"),
    ],
)
def test_what_is_no_quota_is_refused(admin: Caller, change: dict[str, Any], at: str) -> None:
    reply = admin.put("/v1/quota", json=UNLIMITED | change)

    assert [each[0] for each in codes(reply)] == [at]


@pytest.mark.parametrize("missing", ["tokens", "micro_dollars"])
def test_both_limits_have_to_be_said(admin: Caller, missing: str) -> None:
    body = {name: None for name in UNLIMITED if name != missing}

    assert codes(admin.put("/v1/quota", json=body)) == [(missing, "missing")]


def test_a_member_sets_nothing(member: Caller) -> None:
    assert_problem(member.put("/v1/quota", json=UNLIMITED), 404)


def test_another_tenant_neither_sees_nor_uses_it(
    admin: Caller, member: Caller, stranger: Caller
) -> None:
    admin.put("/v1/quota", json={"tokens": 0, "micro_dollars": 0})

    assert stranger.get("/v1/quota").json["limits"] == UNLIMITED


def test_used_up_tells_what_is_left_and_when_it_resets(
    app: Flask, admin: Caller, member: Caller, runtime: Runtime
) -> None:
    admin.put("/v1/quota", json={"period": "day", "tokens": 10, "micro_dollars": None})
    with runtime.database.transaction(member.principal) as tx, pytest.raises(QuotaExceeded) as no:
        quota.reserve(tx, new_id(), Amount(11), now=now(), lease=timedelta(hours=1))

    with app.test_request_context():
        reply = problems.problem(no.value)

    assert reply.status_code == 402
    assert reply.json["code"] == "quota_exceeded"
    assert reply.json["left"] == {"tokens": 10, "micro_dollars": None}
    assert reply.json["resets_at"] == admin.get("/v1/quota").json["resets_at"]
    assert "Retry-After" not in reply.headers
