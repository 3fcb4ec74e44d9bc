"""API keys: kept as hashes, looked up by their public id."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, Select, bindparam, func, insert, or_, select, update

from app.domain.keys import ApiKey, PresentedKey, matches
from app.domain.pages import Page
from app.domain.principals import Principal, Role
from app.store.repository import Repository, insert_where, page_by_id
from app.store.tables import api_keys, users

_COLUMNS = [api_keys.c[field.name] for field in fields(ApiKey)]
_GIVEN = ("id", "user_id", "public_id", "name", "expires_at")
USE_IS_NOTED_EVERY = timedelta(minutes=1)

# Keys with the users that they act as, and whether such a pair is let in now.
HOLDERS = api_keys.join(
    users, (users.c.tenant_id == api_keys.c.tenant_id) & (users.c.id == api_keys.c.user_id)
)
GOOD = (
    api_keys.c.revoked_at.is_(None)
    & users.c.disabled_at.is_(None)
    & or_(api_keys.c.expires_at.is_(None), api_keys.c.expires_at > func.now())
)


def _holder() -> Select[Any]:
    unnoted = or_(
        api_keys.c.last_used_at.is_(None),
        api_keys.c.last_used_at < func.now() - USE_IS_NOTED_EVERY,
    )
    return (
        select(
            api_keys.c.tenant_id,
            api_keys.c.id,
            api_keys.c.user_id,
            api_keys.c.hash,
            users.c.role,
            GOOD.label("good"),
            unnoted.label("unnoted"),
        )
        .select_from(HOLDERS)
        .where(api_keys.c.public_id == bindparam("public_id"))
    )


_HOLDER = _holder()  # built once: every request asks for it


class Keys(Repository):
    """The principal's keys; an admin's are all of its tenant."""

    def get(self, key_id: UUID) -> ApiKey:
        """Raises NotFound."""
        mine = self._scope.owned(api_keys, "user_id")
        return _key(self._one(select(*_COLUMNS).where(mine, api_keys.c.id == key_id)))

    def add(self, key: ApiKey, secret_hash: bytes) -> ApiKey:
        """Store a new key. Raises NotFound for a user that the principal may not act for."""
        values = {name: getattr(key, name) for name in _GIVEN} | {
            "tenant_id": self._scope.tenant_id,
            "created_by": self._scope.user_id,
            "hash": secret_hash,
        }
        holder = select(users.c.id).where(self._scope.user(), users.c.id == key.user_id)
        added = insert_where(api_keys, values, holder.exists()).returning(*_COLUMNS)
        return _key(self._one(added))

    def revoke(self, key_id: UUID) -> ApiKey:
        """Make a key worthless from now on. Raises NotFound."""
        revoked = (
            update(api_keys)
            .where(self._scope.owned(api_keys, "user_id"), api_keys.c.id == key_id)
            .values(revoked_at=func.coalesce(api_keys.c.revoked_at, func.now()))
            .returning(*_COLUMNS)
        )
        return _key(self._one(revoked))

    def page(self, after: UUID | None, limit: int) -> Page[ApiKey]:
        """Keys, newest first, the revoked ones too."""
        found = select(*_COLUMNS).where(self._scope.owned(api_keys, "user_id"))
        if after is not None:
            found = found.where(api_keys.c.id < after)
        rows = self._rows(found.order_by(api_keys.c.id.desc()).limit(limit + 1))
        return page_by_id(rows, limit, _key)


class AllKeys:
    """The keys of every tenant: for sign-in, which does not know the tenant yet."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, key: ApiKey, secret_hash: bytes) -> ApiKey:
        """Store a new key that no user has made."""
        values = {name: getattr(key, name) for name in _GIVEN}
        new = insert(api_keys).values(tenant_id=key.tenant_id, hash=secret_hash, **values)
        return _key(self._connection.execute(new.returning(*_COLUMNS)).one())

    def holder(self, presented: PresentedKey) -> Principal | None:
        """Whom a presented key makes its sender, if it is good now. Notes that it was used.

        Unknown, wrong, revoked, expired and disabled take the same way.
        """
        row = self._connection.execute(_HOLDER, {"public_id": presented.public_id}).first()
        if not matches(presented, None if row is None else bytes(row.hash)):
            return None
        if row is None or not row.good:
            return None
        if row.unnoted:
            self._note_use(row.tenant_id, row.id)
        return Principal(
            tenant_id=row.tenant_id, user_id=row.user_id, role=Role(row.role), key_id=row.id
        )

    def _note_use(self, tenant_id: UUID, key_id: UUID) -> None:
        mine = (api_keys.c.tenant_id == tenant_id) & (api_keys.c.id == key_id)
        self._connection.execute(update(api_keys).where(mine).values(last_used_at=func.now()))


def _key(row: Row[Any]) -> ApiKey:
    return ApiKey(**row._mapping)
