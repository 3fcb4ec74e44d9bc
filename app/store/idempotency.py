"""Idempotency keys: which requests were answered, and how."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, func, select
from sqlalchemy.dialects.postgresql import insert

from app.domain.idempotency import Attempt, FirstAnswer
from app.errors import IdempotencyMismatch, IdempotencyRunning
from app.store.repository import Repository
from app.store.scope import Scope
from app.store.tables import idempotency_keys

_KEY = ("method", "route", "key")


class Idempotency(Repository):
    """The principal's own keys, whatever its role."""

    def __init__(self, connection: Connection, scope: Scope, retention: timedelta) -> None:
        super().__init__(connection, scope)
        self._retention = retention

    def begin(self, attempt: Attempt) -> FirstAnswer | None:
        """The answer that the first request with this key got; None: this is the first one.

        The row is written by `finish`, in the transaction that does the work, so that a request
        that failed leaves none. Until that transaction ends the key is locked.

        Raises:
            IdempotencyRunning: the first request has not ended.
            IdempotencyMismatch: it had another body.
        """
        name = f"{self._scope.tenant_id} {self._scope.user_id} {attempt.method} {attempt.route}"
        lock = func.hashtextextended(f"{name} {attempt.key}", 0)
        if not self._one(select(func.pg_try_advisory_xact_lock(lock)))[0]:
            raise IdempotencyRunning("Wait for its answer, or send it again in a moment.")
        row = self._first(
            select(
                idempotency_keys.c.fingerprint,
                idempotency_keys.c.status,
                idempotency_keys.c.location,
                idempotency_keys.c.resource,
            ).where(self._is(attempt), idempotency_keys.c.expires_at > func.now())
        )
        if row is None:
            return None
        if row.fingerprint != attempt.fingerprint:
            raise IdempotencyMismatch("Take a new key for another request.")
        return FirstAnswer(status=row.status, location=row.location, resource=row.resource)

    def finish(self, attempt: Attempt, answer: FirstAnswer) -> None:
        """Remember the answer, in the place of one that has expired."""
        values = {
            "fingerprint": attempt.fingerprint,
            "status": answer.status,
            "location": answer.location,
            "resource": answer.resource,
            "created_at": func.now(),
            "expires_at": func.now() + self._retention,
        }
        key = {name: getattr(attempt, name) for name in _KEY}
        owner = {"tenant_id": self._scope.tenant_id, "user_id": self._scope.user_id}
        new = insert(idempotency_keys).values(**owner, **key, **values)
        self._connection.execute(
            new.on_conflict_do_update(
                index_elements=list(idempotency_keys.primary_key), set_=values
            )
        )

    def _is(self, attempt: Attempt) -> ColumnElement[bool]:
        columns = idempotency_keys.c
        same: list[Any] = [columns[name] == getattr(attempt, name) for name in _KEY]
        return and_(self._scope.own_alone(idempotency_keys), *same)


class AllIdempotency:
    """The keys of every tenant, to be swept."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def purge(self) -> int:
        """Forget the keys that have expired; how many."""
        old = delete(idempotency_keys).where(idempotency_keys.c.expires_at <= func.now())
        return self._connection.execute(old).rowcount
