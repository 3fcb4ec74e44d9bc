"""/healthz and /readyz."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

from flask.testing import FlaskClient

from app.runtime import Runtime, build_runtime, redis_client
from app.services import runs
from app.settings import Secret
from app.web import create_app
from tests.conftest import Cluster


def test_a_whole_server_is_ready(client: FlaskClient) -> None:
    assert client.get("/healthz").json == {"status": "ok"}
    ready = client.get("/readyz")
    assert ready.status_code == 200
    assert ready.json["checks"] == {"database": "ok", "broker": "ok", "migrations": "ok"}


def test_that_nobody_sweeps_is_told_and_makes_nobody_wait(
    client: FlaskClient, runtime: Runtime
) -> None:
    (told,) = client.get("/readyz").json["warnings"]
    assert "beat" in told

    runs.sweep(runtime)

    ready = client.get("/readyz")
    assert (ready.status_code, ready.json["warnings"]) == (200, [])
    assert 0 < runtime.redis.ttl("hango:swept") <= 60


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


HEAVY = ("anthropic", "redis", "kombu", "PIL", "pypdf", "flask_smorest", "app.tokens.estimator")


def test_finding_the_factory_loads_nothing_heavy() -> None:
    program = f"import app.web, sys; print([name for name in {HEAVY} if name in sys.modules])"

    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert found.stdout.strip() == "[]"


def test_a_served_application_has_not_loaded_the_token_ranks() -> None:
    program = (
        "import sys, app.api.routes, app.tokens.estimator;"
        "print([name for name in ('anthropic', 'PIL', 'pypdf', 'numpy') if name in sys.modules])"
    )

    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert found.stdout.strip() == "[]"


def test_bad_settings_stop_the_start_with_one_line() -> None:
    program = "import app.web; app.web.from_environment()"

    found = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={"HANGO_DATABASE_POOL": "many", "PATH": ""},
    )

    assert found.returncode == 1
    assert found.stderr.count("\n") == 1
    for name in ("HANGO_DATABASE_URL", "HANGO_REDIS_URL", "HANGO_DATABASE_POOL"):
        assert name in found.stderr
