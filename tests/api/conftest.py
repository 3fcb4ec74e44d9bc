"""The real application on the real database and Redis, and the people who call it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.domain.principals import Role
from app.runtime import Runtime, build_runtime
from app.settings import Settings
from app.telemetry import logs
from app.web import create_app
from tests.factories import Caller, make_caller, make_tenant


@pytest.fixture(scope="session")
def process(settings: Settings) -> Iterator[tuple[Runtime, Flask]]:
    """The parts of a web process and its application, made once: making it takes the longest.

    Without a rate limit, since tests ask more often than people do. A test that changes the
    application, or what it is made of, makes one of its own.
    """
    made = build_runtime(replace(settings, rate_limit_per_minute=0, max_streams=2))
    yield made, create_app(made)
    made.database.dispose()
    made.redis.close()
    made.queue.close()


@pytest.fixture
def runtime(process: tuple[Runtime, Flask], clean_database: None, clean_redis: None) -> Runtime:
    """A process's parts, on servers without any row or key."""
    return process[0]


@pytest.fixture
def app(runtime: Runtime, process: tuple[Runtime, Flask]) -> Flask:
    """The application of `runtime`."""
    logs.configure("INFO")
    shared, application = process
    return application if runtime is shared else create_app(runtime)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    """Nobody: a client without a key."""
    return app.test_client()


@pytest.fixture
def tenant(runtime: Runtime) -> object:
    return make_tenant(runtime.database)


@pytest.fixture
def admin(runtime: Runtime, client: FlaskClient, tenant: object) -> Caller:
    return make_caller(runtime.database, client, tenant, "ada", Role.ADMIN)


@pytest.fixture
def member(runtime: Runtime, client: FlaskClient, tenant: object) -> Caller:
    return make_caller(runtime.database, client, tenant, "mia")


@pytest.fixture
def other_member(runtime: Runtime, client: FlaskClient, tenant: object) -> Caller:
    return make_caller(runtime.database, client, tenant, "noa")


@pytest.fixture
def stranger(runtime: Runtime, client: FlaskClient) -> Caller:
    """The admin of another tenant."""
    other = make_tenant(runtime.database, "globex")
    return make_caller(runtime.database, client, other, "eve", Role.ADMIN)
