"""Users: people in a tenant."""

from __future__ import annotations

from app.domain.audit import Action
from app.domain.ids import new_id
from app.domain.principals import Role
from app.domain.users import User
from app.store.transaction import Transaction


def create(tx: Transaction, *, name: str, role: str) -> User:
    """Store a new user of the principal's tenant."""
    user = tx.users.add(
        User(
            id=new_id(),
            tenant_id=tx.principal.tenant_id,
            name=name,
            role=Role(role),
            created_at="",
            disabled_at=None,
        )
    )
    tx.audit.add(Action.USER_CREATE, "user", user.id, {"role": role})
    return user
