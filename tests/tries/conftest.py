"""Tries through the real store, Redis and HTTP, carried out in this process by a told provider."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import pytest
from flask import Flask

from app.domain.principals import Role
from app.domain.usage import CallRecord
from app.provider.base import Provider
from app.runtime import Runtime
from app.services import try_execution
from tests.factories import Caller, make_caller, make_tenant

NOTHING: Mapping[str, Any] = {}  # a body that asks for no change


@pytest.fixture
def tenant(runtime: Runtime) -> UUID:
    return make_tenant(runtime.database)


@pytest.fixture
def admin(runtime: Runtime, app: Flask, tenant: UUID) -> Caller:
    client = app.test_client()
    return make_caller(runtime.database, client, tenant, "ada", Role.ADMIN)


@dataclass
class Tries:
    """Alice's tries."""

    alice: Caller
    runtime: Runtime

    def ask(self, session: str, body: Any = NOTHING, query: str = "", **request: Any) -> Any:
        path = f"/v1/sessions/{session}/context/try{query}"
        # In ASCII, as half a surrogate pair can only be sent by its escape.
        data = json.dumps(body)
        return self.alice.post(path, data=data, content_type="application/json", **request)

    def begin(self, session: str, **body: Any) -> str:
        reply = self.ask(session, body)
        assert reply.status_code == 202, reply.text
        return str(reply.json["id"])

    def carry_out(self, trial: str, provider: Provider | None = None) -> Any:
        """As a worker does it; the try as it then is."""
        with_it = replace(self.runtime, provider=provider) if provider else self.runtime
        try_execution.execute(with_it, UUID(trial))
        return self.get(trial)

    def answered(self, session: str, provider: Provider, **body: Any) -> Any:
        return self.carry_out(self.begin(session, **body), provider)

    def get(self, trial: str) -> Any:
        return self.alice.get(f"/v1/tries/{trial}").json

    def of(self, session: str) -> Any:
        return self.alice.get(f"/v1/sessions/{session}/context/tries").json["items"]

    def record(self, trial: str) -> CallRecord | None:
        """What is on record of its call."""
        with self.runtime.database.reading(self.alice.principal) as tx:
            return tx.usage.of_tries([UUID(trial)]).get(UUID(trial))

    def messages(self, session: str) -> Any:
        return self.alice.get(f"/v1/sessions/{session}/messages").json["items"]

    def context(self, session: str) -> Any:
        return self.alice.get(f"/v1/sessions/{session}/context").json


@pytest.fixture
def tries(runtime: Runtime, app: Flask, tenant: UUID) -> Tries:
    client = app.test_client()
    return Tries(make_caller(runtime.database, client, tenant, "alice"), runtime)
