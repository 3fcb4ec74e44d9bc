"""The connection pool, how a transaction begins, and what becomes of the driver's errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta

import psycopg2
from sqlalchemy import Connection, Engine, create_engine, exc, make_url
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from app.errors import DatabaseUnavailable, Internal
from app.settings import Settings
from app.telemetry import setup as telemetry

LOCK_TIMEOUT = timedelta(seconds=10)
IDLE_IN_TRANSACTION_TIMEOUT = timedelta(seconds=60)
_CONNECT_SECONDS = 5
POOL_WAIT_SECONDS = 5.0  # for a connection while all are in use; who waits longer is sent away


# Hot reads go past SQLAlchemy, and so do their errors.
_OUT_OF_REACH = (
    OperationalError,
    InterfaceError,
    exc.TimeoutError,
    psycopg2.OperationalError,
    psycopg2.InterfaceError,
)


class StatementFailed(Internal):
    """A statement failed in a way that nobody expected: a fault of hango's own.

    Says which rule of the database was broken. The driver's text is left out, since it quotes the
    values of the row.
    """

    def __init__(self, error: DBAPIError | psycopg2.Error) -> None:
        super().__init__()
        original = error.orig if isinstance(error, DBAPIError) else error
        diagnosis = getattr(original, "diag", None)
        self.sqlstate = getattr(original, "pgcode", None)
        self.constraint = getattr(diagnosis, "constraint_name", None)
        self.table = getattr(diagnosis, "table_name", None)

    def __str__(self) -> str:
        return f"SQLSTATE {self.sqlstate}, table {self.table}, constraint {self.constraint}"


def make_engine(
    settings: Settings, application_name: str, pool_wait: float = POOL_WAIT_SECONDS
) -> Engine:
    """A pool that connects when it is first used; make it after a fork, not before."""
    timeouts = {
        "statement_timeout": settings.statement_timeout,
        "lock_timeout": LOCK_TIMEOUT,
        "idle_in_transaction_session_timeout": IDLE_IN_TRANSACTION_TIMEOUT,
    }
    options = [f"-c {name}={int(span.total_seconds() * 1000)}" for name, span in timeouts.items()]
    engine = create_engine(
        make_url(settings.database_url).set(drivername="postgresql+psycopg2"),
        pool_size=settings.database_pool,
        max_overflow=0,
        pool_timeout=pool_wait,
        pool_use_lifo=True,
        hide_parameters=True,
        use_native_hstore=False,
        connect_args={
            "application_name": application_name,
            "connect_timeout": _CONNECT_SECONDS,
            "options": " ".join([*options, "-c timezone=UTC"]),
        },
    )
    telemetry.watch_engine(engine)
    return engine


@contextmanager
def begun(engine: Engine, opening: str, values: Mapping[str, str]) -> Iterator[Connection]:
    """A transaction whose first statement is `opening`; commits on a clean exit.

    Raises:
        DatabaseUnavailable: PostgreSQL does not answer, or not in time.
        StatementFailed: a statement was wrong.
    """
    with translated(), _opened(engine, opening, values) as connection:
        yield connection
        connection.commit()


@contextmanager
def translated() -> Iterator[None]:
    """Turn the driver's errors into hango's, without their texts.

    Raises:
        DatabaseUnavailable, StatementFailed
    """
    try:
        yield
    except _OUT_OF_REACH as error:
        raise DatabaseUnavailable("Try again in a moment.").with_traceback(
            error.__traceback__
        ) from None
    except (DBAPIError, psycopg2.Error) as error:
        raise StatementFailed(error).with_traceback(error.__traceback__) from None


def _opened(engine: Engine, opening: str, values: Mapping[str, str]) -> Connection:
    # The opening statement is also the check that a pooled connection still lives, which saves a
    # ping per transaction. After a restart of the database the first one fails, which empties the
    # pool, and the second goes over a new connection.
    try:
        return _open(engine, opening, values)
    except DBAPIError as error:
        if not error.connection_invalidated:
            raise
    return _open(engine, opening, values)


def _open(engine: Engine, opening: str, values: Mapping[str, str]) -> Connection:
    connection = engine.connect()
    try:
        connection.exec_driver_sql(opening, dict(values))
    except BaseException:
        connection.close()
        raise
    return connection
