"""What every repository stands on: one connection, one scope, and 404 for what neither finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeVar
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Connection,
    Executable,
    Row,
    Table,
    literal,
    select,
)
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.exc import IntegrityError

from app.domain.pages import Page
from app.errors import NotFound
from app.store.hot import Hot
from app.store.scope import Scope

T = TypeVar("T")


class Repository:
    """Statements on one noun, limited to what a principal may see."""

    def __init__(self, connection: Connection, scope: Scope) -> None:
        self._connection = connection
        self._scope = scope

    def _rows(self, statement: Executable) -> list[Row[Any]]:
        return list(self._connection.execute(statement))

    def _first(self, statement: Executable) -> Row[Any] | None:
        return self._connection.execute(statement).first()

    def _one(self, statement: Executable) -> Row[Any]:
        """The row. Raises NotFound when it is not there, or not in the scope."""
        row = self._first(statement)
        if row is None:
            raise NotFound
        return row

    def _hot(self, statement: Hot[Any], **values: Any) -> list[Row[Any]]:
        return list(statement.execute(self._connection, self._scope, values))

    def _hot_write(self, statement: Hot[Any], **values: Any) -> int:
        """How many rows it has written."""
        return statement.execute(self._connection, self._scope, values).rowcount

    def _hot_first(self, statement: Hot[Any], **values: Any) -> Row[Any] | None:
        return statement.execute(self._connection, self._scope, values).first()

    def _hot_one(self, statement: Hot[Any], **values: Any) -> Row[Any]:
        """The row. Raises NotFound when it is not there, or not in the scope."""
        row = self._hot_first(statement, **values)
        if row is None:
            raise NotFound
        return row


class HasId(Protocol):
    """What a list can be cut by."""

    @property
    def id(self) -> UUID: ...


Item = TypeVar("Item", bound=HasId)


def page_by_id(
    rows: Iterable[Row[Any]], limit: int, make: Callable[[Row[Any]], Item]
) -> Page[Item]:
    """A page out of up to `limit + 1` rows; the one too many tells that there are more."""
    items = [make(row) for row in rows]
    return Page(items[:limit], items[limit - 1].id if len(items) > limit else None)


def insert_where(table: Table, values: Mapping[str, Any], condition: ColumnElement[bool]) -> Insert:
    """Insert this row if the condition holds: the check of the parent and the write are one."""
    row = [literal(value, table.c[name].type) for name, value in values.items()]
    return insert(table).from_select(list(values), select(*row).where(condition))


def breaks(error: IntegrityError, constraint: str) -> bool:
    """Whether it was this constraint that refused the statement."""
    return getattr(getattr(error.orig, "diag", None), "constraint_name", None) == constraint


def containing(query: str) -> str:
    """A LIKE pattern for texts that contain `query`, whose % and _ mean themselves."""
    escaped = query.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
