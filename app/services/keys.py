"""API keys: made, shown once, revoked."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from app.domain import keys
from app.domain.audit import Action
from app.domain.ids import new_id, rfc3339
from app.domain.keys import ApiKey
from app.errors import BadBody, Fault, NotFound
from app.store.transaction import Transaction


def create(
    tx: Transaction,
    *,
    name: str,
    user_id: UUID | None,
    expires_at: datetime | None,
    now: datetime,
) -> tuple[ApiKey, str]:
    """Make a key, and give its text: the only time that it can be seen.

    Raises:
        NotFound: the principal may not make keys for this user.
        BadBody: it would have expired already.
    """
    principal = tx.principal
    owner = user_id or principal.user_id
    if owner != principal.user_id and not principal.is_admin:
        raise NotFound
    if expires_at is not None and expires_at <= now:
        raise BadBody(faults=[Fault("expires_at", "in_the_past", "Give a time that is to come.")])
    user = tx.users.get(owner)
    minted = keys.mint()
    stored = tx.keys.add(
        ApiKey(
            id=new_id(),
            tenant_id=user.tenant_id,
            user_id=user.id,
            public_id=minted.public_id,
            name=name,
            created_by=principal.user_id,
            created_at="",
            last_used_at=None,
            expires_at=rfc3339(expires_at) if expires_at else None,
            revoked_at=None,
        ),
        minted.hash,
    )
    tx.audit.add(Action.KEY_CREATE, "key", stored.id, {"user_id": str(user.id)})
    return stored, minted.text


def revoke(tx: Transaction, key_id: UUID) -> ApiKey:
    """Make a key worthless, at once and for good. Again: nothing happens.

    Raises:
        NotFound: the key is not the principal's to revoke.
    """
    key = tx.keys.get(key_id)
    if key.revoked_at is None:
        key = tx.keys.revoke(key_id)
        tx.audit.add(Action.KEY_REVOKE, "key", key_id, {"user_id": str(key.user_id)})
    return key
