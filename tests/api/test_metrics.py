"""/metrics: the figures of all processes and tenants, for who has the token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families

from app.domain.ids import new_id, now
from app.domain.quota import Amount
from app.runtime import Runtime, build_runtime, redis_client
from app.services import execution, quota
from app.settings import Secret, Settings
from app.web import create_app
from tests.api.problems import assert_problem
from tests.factories import Caller, make_session
from tests.history import user

TOKEN = "read-the-figures"


@pytest.fixture
def runtime(settings: Settings, clean_database: None, clean_redis: None) -> Iterator[Runtime]:
    made = build_runtime(replace(settings, rate_limit_per_minute=0, metrics_token=Secret(TOKEN)))
    yield made
    made.database.dispose()
    made.redis.close()
    made.queue.close()


def scrape(client: FlaskClient) -> dict[tuple[str, ...], float]:
    """The samples: the name and the labels' values → the value."""
    reply = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert reply.status_code == 200, reply.text
    assert reply.content_type.startswith("text/plain")
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(reply.text)
        for sample in family.samples
    }


def test_work_is_counted_while_it_waits_and_when_it_is_done(
    client: FlaskClient, member: Caller, runtime: Runtime
) -> None:
    session = make_session(member, None, user("hi"))
    run = member.post(f"/v1/sessions/{session}/runs", json={"message": "go"}).json["id"]
    body = {"overrides": [{"part": "message:1", "action": "exclude"}]}
    assert member.put(f"/v1/sessions/{session}/context-overrides", json=body).status_code == 200

    waiting = scrape(client)

    assert waiting["hango_jobs_waiting", "runs"] == 1
    assert waiting["hango_work", "run", "queued"] == 1
    assert waiting["hango_work", "try", "queued"] == 0
    assert waiting["hango_work_oldest_seconds", "run", "queued"] >= 0
    tenant = str(member.principal.tenant_id)
    assert waiting["hango_context_overrides_active", tenant] == 1
    assert waiting["hango_tokens_total",] == 0

    execution.execute(runtime, UUID(run))

    done = scrape(client)
    assert done["hango_work", "run", "queued"] == 0
    assert done["hango_tokens_total",] > 0


def test_a_call_under_way_is_counted_and_what_it_cost_after_it(
    client: FlaskClient, member: Caller, runtime: Runtime
) -> None:
    with runtime.database.transaction(member.principal) as tx:
        held = quota.reserve(tx, new_id(), Amount(300, 5), now=now(), lease=timedelta(hours=1))
    assert scrape(client)["hango_calls_under_way",] == 1
    with runtime.database.transaction(member.principal) as tx:
        quota.settle(tx, held.id, Amount(100, 4), now=now())

    told = scrape(client)

    assert told["hango_calls_under_way",] == 0
    assert (told["hango_tokens_total",], told["hango_cost_micro_dollars_total",]) == (100, 4)


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer é"}]
)
def test_it_is_closed_to_who_has_no_token(client: FlaskClient, headers: Any) -> None:
    reply = client.get("/metrics", headers=headers)

    assert_problem(reply, 401, "unauthorized")
    assert reply.headers["WWW-Authenticate"] == "Bearer"


def test_a_tenant_s_key_does_not_open_it(admin: Caller) -> None:
    assert admin.get("/metrics").status_code == 401


def test_without_a_token_it_is_not_there(runtime: Runtime) -> None:
    settings = replace(runtime.settings, metrics_token=Secret(""))
    client = create_app(replace(runtime, settings=settings)).test_client()

    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


def test_without_redis_it_says_so(runtime: Runtime) -> None:
    away = redis_client(replace(runtime.settings, redis_url=Secret("redis://127.0.0.1:9")))
    client = create_app(replace(runtime, redis=away)).test_client()

    reply = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})

    assert_problem(reply, 503, "broker_unavailable")
