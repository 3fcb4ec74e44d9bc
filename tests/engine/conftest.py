"""Runs through the real store, Redis and HTTP, carried out in this process by a told provider."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import pytest
from flask import Flask

from app.domain.principals import Role
from app.provider.anthropic import AnthropicProvider
from app.provider.base import Provider
from app.runtime import Runtime
from app.services import execution
from tests.factories import Caller, make_caller, make_tenant
from tests.fakes.strict_provider import Reply, StrictProvider


@pytest.fixture
def alice(runtime: Runtime, app: Flask) -> Caller:
    client = app.test_client()
    tenant = make_tenant(runtime.database)
    return make_caller(runtime.database, client, tenant, "alice", Role.MEMBER)


def says(*blocks: Any, **details: Any) -> Reply:
    """An answer for a provider that is told what to say."""
    return Reply(blocks=list(blocks), **details)


@dataclass
class Runs:
    """Alice's runs."""

    alice: Caller
    runtime: Runtime

    def begin(self, session: str, message: Any = "hello", **body: Any) -> str:
        reply = self.alice.post(f"/v1/sessions/{session}/runs", json={"message": message, **body})
        assert reply.status_code == 202, reply.text
        return str(reply.json["id"])

    def carry_out(self, run: str, provider: Provider | None = None) -> Any:
        """As a worker does it; the run as it then is."""
        with_it = replace(self.runtime, provider=provider) if provider else self.runtime
        execution.execute(with_it, UUID(run))
        return self.get(run)

    def answered(
        self, session: str, provider: Provider, message: Any = "hello", **body: Any
    ) -> Any:
        return self.carry_out(self.begin(session, message, **body), provider)

    def get(self, run: str) -> Any:
        return self.alice.get(f"/v1/runs/{run}").json

    def calls(self, run: str) -> Any:
        return self.alice.get(f"/v1/runs/{run}/calls").json["items"]

    def messages(self, session: str) -> Any:
        return self.alice.get(f"/v1/sessions/{session}/messages").json["items"]


@pytest.fixture
def runs(alice: Caller, runtime: Runtime) -> Runs:
    return Runs(alice, runtime)


@pytest.fixture
def strict() -> Iterator[StrictProvider]:
    with StrictProvider() as provider:
        yield provider


@pytest.fixture
def adapter(strict: StrictProvider) -> Iterator[AnthropicProvider]:
    provider = AnthropicProvider("sk-ant-test", strict.url)
    yield provider
    provider.close()
