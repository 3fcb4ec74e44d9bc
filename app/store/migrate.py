"""Bring the schema from one version to another. Run as the role that owns the tables."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import autogenerate, command
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection, NullPool, create_engine, make_url

from app.store.engine import translated
from app.store.tables import metadata

APP_ROLE = "hango_app"


def upgrade(admin_url: str, app_role: str | None = APP_ROLE, revision: str = "head") -> None:
    """Bring the schema up to `revision`, and give `app_role` its rights.

    `app_role` is the role that serves requests, or a group that it is in. Without such a role
    everything is done by one role, and there is nothing to give.

    Raises:
        DatabaseUnavailable: PostgreSQL does not answer, or a lock was not to be had in time.
    """
    with _connected(admin_url) as connection:
        command.upgrade(_config(connection, app_role), revision)
        connection.commit()


def downgrade(admin_url: str, revision: str, app_role: str | None = APP_ROLE) -> None:
    """Take the schema back to `revision` ("base": nothing is left), with the data of later ones.

    Raises:
        DatabaseUnavailable: PostgreSQL does not answer, or a lock was not to be had in time.
    """
    with _connected(admin_url) as connection:
        command.downgrade(_config(connection, app_role), revision)
        connection.commit()


def current(admin_url: str) -> str | None:
    """The revision that the schema is at; None before the first."""
    with _connected(admin_url) as connection:
        return MigrationContext.configure(connection).get_current_revision()


def check(admin_url: str) -> list[str]:
    """How the schema differs from what this code needs; nothing when it fits."""
    with _connected(admin_url) as connection:
        compared = MigrationContext.configure(connection, opts={"compare_server_default": True})
        differences = autogenerate.compare_metadata(compared, metadata)
        return [_told(each) for each in differences]


def _told(difference: tuple[Any, ...] | list[Any]) -> str:
    if isinstance(difference, list):  # the changes of one column
        return "; ".join(_told(each) for each in difference)
    return " ".join(str(part) for part in difference if part is not None)


@contextmanager
def _connected(admin_url: str) -> Iterator[Connection]:
    url = make_url(admin_url).set(drivername="postgresql+psycopg2")
    engine = create_engine(
        url,
        poolclass=NullPool,
        hide_parameters=True,
        use_native_hstore=False,
        connect_args={"application_name": "hango-migrate", "connect_timeout": 5},
    )
    with translated(), engine.connect() as connection:
        yield connection


def _config(connection: Connection, app_role: str | None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_folder()).replace("%", "%%"))
    config.attributes["connection"] = connection
    config.attributes["app_role"] = app_role
    return config


def _folder() -> Path:
    """Where the migrations lie: beside `app`, in a checkout and in an install."""
    found = importlib.util.find_spec("migrations")
    if found is None or found.origin is None:
        raise RuntimeError("The package `migrations` is missing from this install")
    return Path(found.origin).parent
