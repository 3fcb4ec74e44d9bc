"""Reads that every inspect and every run makes, built once.

SQLAlchemy takes longer to build such a statement, and to find out that it has compiled it before,
than PostgreSQL takes to answer it. What a principal may see is still said in scope.py alone: its
conditions are taken with parameters in the places of the tenant and the user.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast
from uuid import UUID

from sqlalchemy import Connection, CursorResult, Select, Uuid, bindparam

from app.domain.principals import Principal, Role
from app.store.scope import Scope


class HotRead:
    """Decorates a function that makes a SELECT within a scope.

    The values that each use gives are `parameter(name)` there.
    """

    def __init__(self, build: Callable[[Scope], Select[Any]]) -> None:
        self._by_role = {role: build(_scope_of_any(role)) for role in Role}

    def execute(
        self, connection: Connection, scope: Scope, values: Mapping[str, UUID]
    ) -> CursorResult[Any]:
        """The rows that this principal may see."""
        who = {"tenant": scope.tenant_id, "user": scope.user_id}
        return connection.execute(self._by_role[scope.principal.role], {**who, **values})


def parameter(name: str) -> UUID:
    """Stands for an id in a statement, until it is executed."""
    return cast(UUID, bindparam(name, type_=Uuid()))


def _scope_of_any(role: Role) -> Scope:
    return Scope(Principal(tenant_id=parameter("tenant"), user_id=parameter("user"), role=role))
