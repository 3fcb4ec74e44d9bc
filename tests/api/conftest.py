"""The real application on the real database and Redis, and the people who call it."""

from __future__ import annotations

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.domain.principals import Role
from app.runtime import Runtime
from tests.factories import Caller, make_caller, make_tenant


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
