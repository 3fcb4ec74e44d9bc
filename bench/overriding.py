"""Overrides: what a thousand of them add to an inspect, and what saving them costs (O1, O2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import cycle
from typing import Any

import psycopg2
from psycopg2.extras import execute_values

from app.domain.ids import new_id
from app.domain.overrides import Target
from app.services import overrides
from app.services.overrides import Wish
from bench.inspect import LARGE, answer
from bench.measure import Finding, ratio
from bench.servers import Ground

SAVED = 1_000
PAIRS = 9

_INSERT = """
INSERT INTO context_overrides
  (tenant_id, id, agent_id, session_id, part, action, replacement, reason, base_sha256, created_by)
VALUES %s
"""


def inspect_with_many(ground: Ground) -> Iterator[Finding]:
    """O1: an inspect with a thousand overrides over the same session without any."""
    plain, edited = ground.session(LARGE), ground.session(LARGE, copy="many overrides")
    save(ground, edited, wishes(first=6))
    measured = ratio(lambda: answer(ground, edited), lambda: answer(ground, plain), 15)
    what = f"inspect of {LARGE:,} parts, {SAVED:,} overrides / none"
    yield Finding("O1", what, 1.3, measured)


def put_of_many(ground: Ground) -> Iterator[Finding]:
    """O2: saving a thousand overrides over inserting the same rows in one statement."""
    session = ground.session(LARGE, copy="many overrides")
    sets = cycle([wishes(first=6), wishes(first=12)])
    with closing(psycopg2.connect(ground.services.database_url)) as connection:
        bare = bulk_insert(ground, connection, session)
        measured = ratio(lambda: save(ground, session, next(sets)), bare, PAIRS)
    yield Finding("O2", f"save {SAVED:,} overrides / bare bulk insert", 2.0, measured)


GOALS: Mapping[str, Callable[[Ground], Iterator[Finding]]] = {
    "O1": inspect_with_many,
    "O2": put_of_many,
}


def wishes(first: int) -> list[Wish]:
    """A thousand exclusions of assistant messages without a call: none needs a partner."""
    return [Wish(f"message:{first + 6 * step}", "exclude") for step in range(SAVED)]


def save(ground: Ground, session: Any, wanted: Sequence[Wish]) -> None:
    """One PUT, without HTTP."""
    with ground.database.transaction(ground.principal) as tx:
        overrides.replace(tx, Target("session", session), wanted)


def bulk_insert(ground: Ground, connection: Any, session: Any) -> Callable[[], None]:
    """Insert as many rows by one statement, and take them back."""
    principal = ground.principal
    tenant, user = str(principal.tenant_id), str(principal.user_id)

    def insert() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('hango.tenant', %s, true)", (tenant,))
            rows = [
                (tenant, str(new_id()), None, str(session), f"message:{900_000 + number}",
                 "exclude", None, None, None, user)
                for number in range(SAVED)
            ]  # fmt: skip
            execute_values(cursor, _INSERT, rows, page_size=SAVED)
        connection.rollback()

    return insert
