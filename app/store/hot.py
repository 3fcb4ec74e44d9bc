"""Statements of every inspect, try and run, built once.

SQLAlchemy takes longer to build a statement, and to find out that it has compiled it before, than
PostgreSQL takes to answer it. What a principal may see is still said in scope.py alone: its
conditions are taken with parameters in the places of the tenant and the user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar, cast
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Connection,
    CursorResult,
    Executable,
    Insert,
    Table,
    bindparam,
    insert,
    select,
)
from sqlalchemy.types import TypeEngine, Uuid

from app.domain.principals import Principal, Role
from app.store.scope import Scope

S = TypeVar("S", bound=Executable)


class Hot(Generic[S]):
    """Decorates a function that makes a statement within a scope.

    It is made at its first use. What each use gives is `parameter(name)` there.
    """

    def __init__(self, build: Callable[[Scope], S]) -> None:
        self._build = build
        self._by_role: dict[Role, S] = {}

    def execute(
        self, connection: Connection, scope: Scope, values: Mapping[str, Any]
    ) -> CursorResult[Any]:
        """The rows that this principal may see, or has changed."""
        role = scope.principal.role
        statement = self._by_role.get(role)
        if statement is None:
            statement = self._by_role[role] = self._build(_scope_of_any(role))
        who = {"tenant": scope.tenant_id, "user": scope.user_id}
        given = {_given(name): value for name, value in (who | dict(values)).items()}
        return connection.execute(statement, given)


class HotSystem(Generic[S]):
    """The same for a statement across tenants."""

    def __init__(self, build: Callable[[], S]) -> None:
        self._build = build
        self._statement: S | None = None

    def execute(self, connection: Connection, **values: Any) -> CursorResult[Any]:
        """Its rows."""
        if self._statement is None:
            self._statement = self._build()
        return connection.execute(
            self._statement, {_given(name): value for name, value in values.items()}
        )


def parameter(name: str, type_: TypeEngine[Any] | None = None) -> Any:
    """Stands for a value in a statement, until it is executed. Next to a column it has its type."""
    return bindparam(_given(name), type_=type_)


def insert_given(table: Table, names: Iterable[str], condition: ColumnElement[bool]) -> Insert:
    """Insert a row of parameters with the names of their columns, if the condition holds.

    The check of the parent and the write are one.
    """
    columns = [table.c[name] for name in names]
    row = [parameter(each.name, each.type) for each in columns]
    return insert(table).from_select(columns, select(*row).where(condition))


def _given(name: str) -> str:
    # SQLAlchemy keeps the bare names of columns for itself where a statement writes.
    return f"given_{name}"


def _scope_of_any(role: Role) -> Scope:
    tenant, user = (cast(UUID, parameter(name, Uuid())) for name in ("tenant", "user"))
    return Scope(Principal(tenant_id=tenant, user_id=user, role=role))
