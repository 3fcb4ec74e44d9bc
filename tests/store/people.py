"""Two tenants with their people, and the rows that tests begin with."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from app.domain import keys
from app.domain.agents import Agent
from app.domain.ids import new_id
from app.domain.keys import ApiKey, MintedKey
from app.domain.messages import NewMessage
from app.domain.principals import Principal, Role
from app.domain.sessions import Session
from app.domain.tenants import Tenant
from app.domain.users import User
from app.store.transaction import Database, SystemTransaction

COUNTED_BY = "cl100k-classes/1:claude-4.7"


@dataclass(frozen=True)
class People:
    """Who asks in these tests. Eve is the admin of another tenant."""

    admin: Principal
    alice: Principal
    bob: Principal
    eve: Principal


def settle(database: Database) -> People:
    """Make two tenants: one with an admin, Alice and Bob, and Eve's."""
    with database.system() as tx:
        here, there = _tenant(tx, "Here"), _tenant(tx, "There")
        return People(
            admin=_person(tx, here, "Admin", Role.ADMIN),
            alice=_person(tx, here, "Alice", Role.MEMBER),
            bob=_person(tx, here, "Bob", Role.MEMBER),
            eve=_person(tx, there, "Eve", Role.ADMIN),
        )


def an_agent(owner: Principal, **changes: Any) -> Agent:
    """An agent that nothing is special about."""
    return Agent(
        **{
            "id": new_id(),
            "tenant_id": owner.tenant_id,
            "owner_id": owner.user_id,
            "name": "Helper",
            "model": "claude-sonnet-5-5",
            "system_blocks": ("Be helpful.",),
            "max_tokens": 1024,
        }
        | changes
    )


def a_session(owner: Principal, agent_id: UUID, **changes: Any) -> Session:
    """A session that nothing is special about."""
    return Session(
        **{
            "id": new_id(),
            "tenant_id": owner.tenant_id,
            "owner_id": owner.user_id,
            "agent_id": agent_id,
            "title": "A talk",
        }
        | changes
    )


def a_message(text: str = "Hello", role: str = "user", **changes: Any) -> NewMessage:
    """A message of one text block."""
    content = f'[{{"type":"text","text":"{text}"}}]'
    return NewMessage(
        **{
            "role": role,
            "content": content,
            "tokens": 4,
            "counted_by": COUNTED_BY,
            "preview": text,
            "sha256": hashlib.sha256(f"{role}\n{content}".encode()).hexdigest(),
            "tool_use_ids": "",
            "tool_result_ids": "",
            "marks": "",
        }
        | changes
    )


def a_key(holder: Principal, minted: MintedKey | None = None, **changes: Any) -> ApiKey:
    """A key of `holder`'s."""
    return ApiKey(
        **{
            "id": new_id(),
            "tenant_id": holder.tenant_id,
            "user_id": holder.user_id,
            "public_id": (minted or keys.mint()).public_id,
            "name": "A key",
            "created_by": None,
            "created_at": "",
            "last_used_at": None,
            "expires_at": None,
            "revoked_at": None,
        }
        | changes
    )


def with_session(database: Database, owner: Principal, **agent: Any) -> Session:
    """A new session of `owner`'s, with a new agent of its own."""
    with database.transaction(owner) as tx:
        made = tx.agents.add(an_agent(owner, **agent))
        return tx.sessions.add(a_session(owner, made.id))


def _tenant(tx: SystemTransaction, name: str) -> UUID:
    tenant = Tenant(id=new_id(), name=name, trace_llm_content=False, created_at="")
    return tx.tenants.add(tenant).id


def _person(tx: SystemTransaction, tenant_id: UUID, name: str, role: Role) -> Principal:
    user = User(
        id=new_id(), tenant_id=tenant_id, name=name, role=role, created_at="", disabled_at=None
    )
    tx.users.add(user)
    principal = Principal(tenant_id=tenant_id, user_id=user.id, role=role)
    minted = keys.mint()
    key = tx.keys.add(a_key(principal, minted), minted.hash)
    return Principal(tenant_id=tenant_id, user_id=user.id, role=role, key_id=key.id)
