"""Web sessions: kept as hashes of their tokens, good only as long as their key is."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Connection,
    Interval,
    Row,
    Select,
    and_,
    bindparam,
    delete,
    func,
    literal,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from app.domain.ids import new_id
from app.domain.principals import Principal, Role
from app.domain.web_sessions import SignedIn, WebSession
from app.store.keys import GOOD, HOLDERS, USE_IS_NOTED_EVERY
from app.store.repository import Repository
from app.store.tables import api_keys, users, web_sessions

_COLUMNS = [web_sessions.c[field.name] for field in fields(WebSession)]

_LASTS: ColumnElement[bool] = and_(
    web_sessions.c.expires_at > func.now(),
    web_sessions.c.last_used_at > func.now() - bindparam("idle", type_=Interval),
)


def _holder() -> Select[Any]:
    of_key = and_(
        web_sessions.c.tenant_id == api_keys.c.tenant_id, web_sessions.c.key_id == api_keys.c.id
    )
    unnoted = web_sessions.c.last_used_at < func.now() - USE_IS_NOTED_EVERY
    columns = [*_COLUMNS, api_keys.c.tenant_id, api_keys.c.user_id, users.c.role]
    return (
        select(*columns, unnoted.label("unnoted"))
        .select_from(HOLDERS.join(web_sessions, of_key))
        .where(web_sessions.c.token_hash == bindparam("token_hash"), GOOD, _LASTS)
    )


_HOLDER = _holder()  # built once: every request with a cookie asks for it


class WebSessions(Repository):
    """The principal's own, whatever its role: who has the key ends all of them with the key."""

    def end(self, web_session_id: UUID) -> UUID:
        """End one; its id. Raises NotFound."""
        mine = and_(self._scope.own_alone(web_sessions), web_sessions.c.id == web_session_id)
        ended = delete(web_sessions).where(mine).returning(web_sessions.c.id)
        return UUID(str(self._one(ended).id))

    def add(self, token_hash: bytes, lifetime: timedelta) -> WebSession:
        """Begin one for the key that the principal acts through. Raises NotFound without one.

        It ends with `lifetime`, or when the key expires.
        """
        values = {
            "tenant_id": api_keys.c.tenant_id,
            "id": literal(new_id(), web_sessions.c.id.type),
            "user_id": api_keys.c.user_id,
            "key_id": api_keys.c.id,
            "token_hash": literal(token_hash, web_sessions.c.token_hash.type),
            # The least of those that are there: PostgreSQL passes over NULL.
            "expires_at": func.least(func.now() + lifetime, api_keys.c.expires_at),
        }
        mine = self._scope.own_alone(api_keys)
        key = select(*values.values()).where(mine, api_keys.c.id == self._scope.principal.key_id)
        added = insert(web_sessions).from_select(list(values), key).returning(*_COLUMNS)
        return _web_session(self._one(added))


class AllWebSessions:
    """The web sessions of every tenant: the cookie does not tell the tenant."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def holder(self, token_hash: bytes, idle: timedelta) -> SignedIn | None:
        """Whose web session this is, if it and its key are good now. Notes that it was used."""
        asked = {"token_hash": token_hash, "idle": idle}
        row = self._connection.execute(_HOLDER, asked).first()
        if row is None:
            return None
        if row.unnoted:
            self._note_use(row.tenant_id, row.id)
        principal = Principal(
            tenant_id=row.tenant_id, user_id=row.user_id, role=Role(row.role), key_id=row.key_id
        )
        return SignedIn(principal, _web_session(row))

    def purge(self, idle: timedelta) -> int:
        """Forget those that are over; how many."""
        over = delete(web_sessions).where(~_LASTS)
        return self._connection.execute(over, {"idle": idle}).rowcount

    def _note_use(self, tenant_id: UUID, web_session_id: UUID) -> None:
        mine = and_(web_sessions.c.tenant_id == tenant_id, web_sessions.c.id == web_session_id)
        self._connection.execute(update(web_sessions).where(mine).values(last_used_at=func.now()))


def _web_session(row: Row[Any]) -> WebSession:
    return WebSession(**{column.name: getattr(row, column.name) for column in _COLUMNS})
