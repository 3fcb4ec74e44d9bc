"""/healthz and /readyz."""

from __future__ import annotations

from dataclasses import replace

from flask.testing import FlaskClient

from app.runtime import Runtime, build_runtime, redis_client
from app.settings import Secret
from app.web import create_app
from tests.conftest import Cluster


def test_a_whole_server_is_ready(client: FlaskClient) -> None:
    assert client.get("/healthz").json == {"status": "ok"}
    ready = client.get("/readyz")
    assert ready.status_code == 200
    assert ready.json["checks"] == {"database": "ok", "broker": "ok", "migrations": "ok"}


def test_without_redis_it_is_not_ready(runtime: Runtime) -> None:
    away = redis_client(replace(runtime.settings, redis_url=Secret("redis://127.0.0.1:9")))
    client = create_app(replace(runtime, redis=away)).test_client()

    ready = client.get("/readyz")

    assert ready.status_code == 503
    assert ready.json["checks"] == {"database": "ok", "broker": "failing", "migrations": "ok"}
    assert client.get("/healthz").status_code == 200


def test_without_a_database_it_is_not_ready(runtime: Runtime) -> None:
    settings = replace(runtime.settings, database_url=Secret("postgresql://x@127.0.0.1:9/x"))
    client = create_app(build_runtime(settings)).test_client()

    ready = client.get("/readyz")

    assert ready.status_code == 503
    assert ready.json["checks"] == {"database": "failing", "broker": "ok", "migrations": "failing"}


def test_before_the_migrations_it_is_not_ready(runtime: Runtime, cluster: Cluster) -> None:
    empty = cluster.create(migrated=False)
    settings = replace(runtime.settings, database_url=Secret(empty.app_url))
    made = build_runtime(settings)

    ready = create_app(made).test_client().get("/readyz")
    made.database.dispose()

    assert ready.status_code == 503
    assert ready.json["checks"] == {"database": "ok", "broker": "ok", "migrations": "failing"}
