"""Stops a worker at a known step: what it wants to read or write next is locked in the database.

No line of the worker knows about it, so that it stands where it would really stand.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from app.settings import Settings
from tests.factories import until
from tests.faults.conftest import database_of

READING = "ACCESS EXCLUSIVE"  # stops also who reads the table
WRITING = "EXCLUSIVE"  # stops who writes it, or locks a row


class Brake:
    """A lock that somebody runs into, until it is let go."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stack = ExitStack()
        self._holder: int | None = None

    def on_table(self, table: str, mode: str) -> None:
        """Stop who reads or writes this table."""
        self._take(f"LOCK TABLE {table} IN {mode} MODE")

    def on_row(self, table: str, row_id: str) -> None:
        """Stop who writes this row."""
        self._take(f"SELECT FROM {table} WHERE id = %s FOR UPDATE", row_id)

    def wait(self) -> None:
        """Until somebody stands before it."""
        until(lambda: self._stopped() > 0)

    def release(self) -> None:
        self._stack.close()

    def _take(self, sql: str, *values: Any) -> None:
        cursor = self._stack.enter_context(database_of(self._settings))
        cursor.execute(sql, values)
        self._holder = cursor.connection.get_backend_pid()

    def _stopped(self) -> int:
        with database_of(self._settings) as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE %s = ANY(pg_blocking_pids(pid))",
                [self._holder],
            )
            return int(cursor.fetchone()[0])


@contextmanager
def brakes(settings: Settings, number: int = 1) -> Iterator[list[Brake]]:
    """So many brakes, all of which are released at the end."""
    made = [Brake(settings) for _ in range(number)]
    try:
        yield made
    finally:
        for brake in made:
            brake.release()
