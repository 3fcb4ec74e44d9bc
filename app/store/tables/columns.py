"""The column types of the schema, the names of its constraints, and the keys that tables share."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Column, DateTime, ForeignKeyConstraint, MetaData, Text, Uuid, func
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from app.domain.ids import rfc3339
from app.domain.jsontext import clean_dumps, loads
from app.domain.text import clean

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


class CleanText(TypeDecorator[str]):
    """Text that PostgreSQL takes: NUL and lone surrogates never reach the driver."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, _dialect: Dialect) -> str | None:
        return None if value is None else clean(value)


class JsonText(TypeDecorator[Any]):
    """A JSON value kept as text, since jsonb would reorder its keys, and with them the prompt."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, _dialect: Dialect) -> str | None:
        return None if value is None else clean_dumps(value)

    def process_result_value(self, value: str | None, _dialect: Dialect) -> Any:
        return None if value is None else loads(value)


class Instant(TypeDecorator[str]):
    """A point in time: `timestamptz` there, RFC 3339 text in UTC here."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: str | None, _dialect: Dialect) -> datetime | None:
        return None if value is None else datetime.fromisoformat(value)

    def process_result_value(self, value: datetime | None, _dialect: Dialect) -> str | None:
        return None if value is None else rfc3339(value)


def tenant_key() -> Column[Any]:
    """`tenant_id`, the first column of the primary key."""
    return Column("tenant_id", Uuid, primary_key=True)


def id_key() -> Column[Any]:
    """`id`, the second column of the primary key."""
    return Column("id", Uuid, primary_key=True)


def text(name: str, **options: Any) -> Column[Any]:
    """A text column; never NULL unless it says so."""
    return Column(name, CleanText, **{"nullable": False, **options})


def json_text(name: str, **options: Any) -> Column[Any]:
    """A JSON column; never NULL unless it says so."""
    return Column(name, JsonText, **{"nullable": False, **options})


def made_at(name: str = "created_at") -> Column[Any]:
    """When the row was made: the start of its transaction, by the database's clock."""
    return Column(name, Instant, nullable=False, server_default=func.now())


def instant(name: str) -> Column[Any]:
    """When something happened; NULL until then."""
    return Column(name, Instant)


def of_tenant() -> ForeignKeyConstraint:
    """The tenant is there. Nothing cascades from it: one statement must not empty an account."""
    return ForeignKeyConstraint(["tenant_id"], ["tenants.id"])


def refers(column: str, table: str, ondelete: str | None = None) -> ForeignKeyConstraint:
    """`column` names a row of `table` in the same tenant."""
    return ForeignKeyConstraint(
        ["tenant_id", column], [f"{table}.tenant_id", f"{table}.id"], ondelete=ondelete
    )
