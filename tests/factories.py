"""Makes what tests start from: functions with keyword defaults, through the real store or HTTP."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.domain import keys
from app.domain.ids import new_id
from app.domain.keys import ApiKey
from app.domain.principals import Principal, Role
from app.domain.tenants import Tenant
from app.domain.users import User
from app.store.transaction import Database


@dataclass(frozen=True)
class Caller:
    """A person with a key, and the client that it uses."""

    principal: Principal
    key: str
    client: FlaskClient

    def get(self, path: str, **request: Any) -> TestResponse:
        return self._open("GET", path, request)

    def post(self, path: str, **request: Any) -> TestResponse:
        return self._open("POST", path, request)

    def put(self, path: str, **request: Any) -> TestResponse:
        return self._open("PUT", path, request)

    def patch(self, path: str, **request: Any) -> TestResponse:
        return self._open("PATCH", path, request)

    def delete(self, path: str, **request: Any) -> TestResponse:
        return self._open("DELETE", path, request)

    def open(self, path: str, *, method: str, **request: Any) -> TestResponse:
        """As Flask's client does it, so that a test may take either."""
        return self._open(method, path, request)

    def _open(self, method: str, path: str, request: dict[str, Any]) -> TestResponse:
        headers = {"Authorization": f"Bearer {self.key}", **request.pop("headers", {})}
        return self.client.open(path, method=method, headers=headers, **request)


def make_tenant(database: Database, name: str = "acme") -> UUID:
    with database.system() as tx:
        tenant = Tenant(id=new_id(), name=name, trace_llm_content=False, created_at="")
        return tx.tenants.add(tenant).id


def make_caller(
    database: Database, client: FlaskClient, tenant_id: UUID, name: str, role: Role = Role.MEMBER
) -> Caller:
    with database.system() as tx:
        user = tx.users.add(
            User(
                id=new_id(),
                tenant_id=tenant_id,
                name=name,
                role=role,
                created_at="",
                disabled_at=None,
            )
        )
        minted = keys.mint()
        key = tx.keys.add(an_api_key(user, minted.public_id), minted.hash)
    principal = Principal(tenant_id=tenant_id, user_id=user.id, role=role, key_id=key.id)
    return Caller(principal, minted.text, client)


def an_api_key(user: User, public_id: str, **changes: Any) -> ApiKey:
    values: dict[str, Any] = {
        "id": new_id(),
        "tenant_id": user.tenant_id,
        "user_id": user.id,
        "public_id": public_id,
        "name": "test",
        "created_by": None,
        "created_at": "",
        "last_used_at": None,
        "expires_at": None,
        "revoked_at": None,
    }
    return ApiKey(**(values | changes))


def make_agent(caller: Caller, **fields: Any) -> str:
    body = {"name": "helper", "model": "claude-sonnet-4-5", "system_prompt": "Help."} | fields
    return made(caller.post("/v1/agents", json=body))["id"]


def make_session(caller: Caller, agent_id: str | None = None, *messages: Any) -> str:
    agent_id = agent_id or make_agent(caller)
    session = made(caller.post("/v1/sessions", json={"agent_id": agent_id}))["id"]
    if messages:
        append(caller, session, *messages)
    return session


def append(caller: Caller, session: str, *turns: tuple[str, Any]) -> list[dict[str, Any]]:
    """Store turns as tests/history.py writes them: ("user", [blocks])."""
    body = {"messages": [{"role": role, "content": content} for role, content in turns]}
    return made(caller.post(f"/v1/sessions/{session}/messages", json=body))["items"]


def made(reply: TestResponse) -> Any:
    assert reply.status_code == 201, reply.text
    return reply.json


def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    """Wait for the condition, and no longer than it takes."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "It never came to pass."
        time.sleep(0.02)
