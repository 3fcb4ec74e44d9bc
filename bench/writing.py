"""Writing: what it costs to store beside a message all that an inspect will need (P7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from itertools import count
from typing import Any

import psycopg2
from msgspec.structs import asdict

from app.domain.jsontext import dumps
from app.domain.messages import NewMessage, prepare
from app.tokens.estimator import estimator_for
from bench import generator
from bench.generator import Message
from bench.measure import Finding, ratio
from bench.servers import MODEL, Ground

BATCH = 36  # messages a call, each in a transaction of its own
PAIRS = 25

Make = Callable[[Message], NewMessage]
Insert = Callable[[NewMessage], None]


def inserts(ground: Ground) -> Iterator[Finding]:
    """P7: preparing and inserting messages over inserting them without what was prepared."""
    what = "insert with counts, preview, ids, hash / insert without"
    messages = generator.session(BATCH)

    def each(make: Make, insert: Insert) -> None:
        for message in messages:
            insert(make(message))

    def measured(insert: Insert) -> Any:
        return ratio(lambda: each(whole, insert), lambda: each(bare, insert), PAIRS)

    yield Finding("P7", what, 1.35, measured(by_the_store(ground)))
    with closing(psycopg2.connect(ground.services.database_url)) as connection:
        told = measured(by_the_driver(ground, connection))
        yield Finding("P7", "the same by one bare statement", None, told)


GOALS: Mapping[str, Callable[[Ground], Iterator[Finding]]] = {"P7": inserts}


def whole(message: Message) -> NewMessage:
    """A message as it is stored."""
    return prepare(message["role"], message["content"], estimator_for(MODEL))


def bare(message: Message) -> NewMessage:
    """Its content alone, in the same columns."""
    return NewMessage(
        role=message["role"],
        content=dumps(message["content"]),
        tokens=0,
        counted_by="",
        preview="",
        sha256="0" * 64,
        tool_use_ids="",
        tool_result_ids="",
        marks="",
    )


def by_the_store(ground: Ground) -> Insert:
    """As hango appends: in a transaction that also numbers the message and sums the session."""
    session = ground.empty_session()

    def insert(message: NewMessage) -> None:
        with ground.database.transaction(ground.principal) as tx:
            tx.messages.append(session.id, [message])

    return insert


def by_the_driver(ground: Ground, connection: Any) -> Insert:
    """With nothing but the INSERT, committed durably."""
    seqs = count(1)
    place = {
        "tenant_id": str(ground.principal.tenant_id),
        "session_id": str(ground.empty_session().id),
    }
    columns = ("tenant_id", "session_id", "seq", *NewMessage.__struct_fields__)
    values = ", ".join(f"%({name})s" for name in columns)
    statement = f"INSERT INTO messages ({', '.join(columns)}) VALUES ({values})"

    def insert(message: NewMessage) -> None:
        with connection, connection.cursor() as cursor:
            cursor.execute("SELECT set_config('hango.tenant', %(tenant_id)s, true)", place)
            cursor.execute(statement, {**place, **asdict(message), "seq": next(seqs)})

    return insert
