"""Writing: what it costs to store beside a message all that an inspect will need (P7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from itertools import count
from typing import Any

import psycopg2
from msgspec.structs import asdict

from app.domain.jsontext import dumps
from app.domain.messages import prepare
from app.tokens.estimator import estimator_for
from bench import generator
from bench.measure import Finding, ratio
from bench.servers import MODEL, Ground

BATCH = 60  # messages a call, each in a transaction of its own
_UNMEASURED = {
    "tokens": None,
    "counted_by": None,
    "preview": "",
    "sha256": "0" * 64,
    "tool_use_ids": "",
    "tool_result_ids": "",
    "marks": "",
}
_COLUMNS = ("tenant_id", "session_id", "seq", "role", "content", *_UNMEASURED)


def inserts(ground: Ground) -> Iterator[Finding]:
    """P7: preparing and inserting messages over inserting them bare, with the driver alone."""
    messages = generator.session(BATCH)
    estimator = estimator_for(MODEL)

    def measured() -> Iterator[Mapping[str, Any]]:
        return (asdict(prepare(each["role"], each["content"], estimator)) for each in messages)

    def bare() -> Iterator[Mapping[str, Any]]:
        for each in messages:
            yield _UNMEASURED | {"role": each["role"], "content": dumps(each["content"])}

    with closing(psycopg2.connect(ground.services.database_url)) as connection:
        insert = _inserting(ground, connection)
        found = ratio(lambda: insert(measured()), lambda: insert(bare()), 25)
    yield Finding("P7", "insert with counts, preview, ids, hash / insert without", 1.35, found)


GOALS: Mapping[str, Callable[[Ground], Iterator[Finding]]] = {"P7": inserts}


def _inserting(ground: Ground, connection: Any) -> Callable[[Iterator[Mapping[str, Any]]], None]:
    """Stores each row durably before the next is made, at the end of one session."""
    session, seqs = ground.empty_session(), count(1)
    tenant = str(ground.principal.tenant_id)
    statement = (
        f"INSERT INTO messages ({', '.join(_COLUMNS)}) "
        f"VALUES ({', '.join(f'%({name})s' for name in _COLUMNS)})"
    )

    def insert(rows: Iterator[Mapping[str, Any]]) -> None:
        for row in rows:
            with connection, connection.cursor() as cursor:
                place = {"tenant_id": tenant, "session_id": str(session.id), "seq": next(seqs)}
                cursor.execute("SELECT set_config('hango.tenant', %s, true)", [tenant])
                cursor.execute(statement, {**row, **place})

    return insert
