"""Users: people in a tenant."""

from __future__ import annotations

from uuid import UUID

from app.domain.audit import Action
from app.domain.ids import new_id
from app.domain.principals import Role
from app.domain.users import User
from app.errors import Conflict
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


def change(
    tx: Transaction, user_id: UUID, *, role: str | None = None, disabled: bool | None = None
) -> User:
    """Change a role, or shut a user out and let it in again. None leaves as it is.

    Raises:
        NotFound: there is no such user, or the principal is no admin.
        Conflict: an admin would take its own rights, and might be the last one.
    """
    before = tx.users.get(user_id)
    wanted = Role(role) if role else None
    if user_id == tx.principal.user_id and (disabled or wanted is Role.MEMBER):
        raise Conflict("Ask another admin to do this to you.")
    after = tx.users.update(user_id, role=wanted, disabled=disabled)
    if after != before:
        shut = after.disabled_at is not None
        tx.audit.add(Action.USER_UPDATE, "user", user_id, {"role": after.role, "disabled": shut})
    return after
