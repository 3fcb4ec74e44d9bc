"""Inspect: warm and cold, in process and over HTTP, its growth and its memory (P1 to P6, P8)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from statistics import median
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import msgspec
import orjson
import psycopg2

from app.chain.capture import capture
from app.chain.snapshots import snapshot
from app.chain.stack import Reads, default_chain
from app.domain.catalogue import facts_for
from app.domain.overrides import Target
from app.domain.requests import RunState
from app.services import context, overrides
from app.services.overrides import Wish
from app.tokens.estimator import estimator_for
from app.tokens.rendering import Rendering
from bench import generator
from bench.measure import Finding, Spread, exponent, pairs, ratio, seconds, spread
from bench.measurements import ENCODE
from bench.servers import MODEL, Ground

SMALL, LARGE = 1_000, 10_000
EVERY = 20  # every twentieth message is excluded by a person, and its pair partners with it

_HEADERS = "seq, role, tokens, preview, sha256, tool_use_ids, tool_result_ids, marks"
_ROUNDS = 3


def warm(ground: Ground) -> Iterator[Finding]:
    """P1: one inspect over loading the same header rows and dumping them."""
    session = overridden(ground, LARGE)
    with rows(ground, _HEADERS) as headers:
        measured = ratio(
            lambda: answer(ground, session), lambda: orjson.dumps(headers(session)), 15
        )
        yield Finding("P1", "warm inspect / load header rows + orjson.dumps", 1.5, measured)
        bare = ground.session(LARGE)
        measured = ratio(lambda: answer(ground, bare), lambda: orjson.dumps(headers(bare)), 15)
        yield Finding("P1", "the same without any override", None, measured)


def against_content(ground: Ground) -> Iterator[Finding]:
    """P2: one inspect over loading and dumping what was said."""
    session = overridden(ground, LARGE)
    with rows(ground, "seq, role, content") as contents:

        def yardstick() -> object:
            return json.dumps([(*head, json.loads(text)) for *head, text in contents(session)])

        measured = ratio(lambda: answer(ground, session), yardstick, 9)
    yield Finding("P2", "warm inspect / load all content + json.dumps", 0.25, measured)


def over_http(ground: Ground) -> Iterator[Finding]:
    """P3: GET over HTTP, with key and rate limit, over the same in process."""
    for size, count in ((SMALL, 61), (LARGE, 21)):
        session = overridden(ground, size)
        with http(ground) as get:
            path = f"/v1/sessions/{session}/context"
            for _ in range(10):  # both sides have long seen such a request
                get(path), answer(ground, session)
            found = pairs(lambda: get(path), lambda: answer(ground, session), count)  # noqa: B023
        measured = spread(mine / theirs for mine, theirs in found)
        yield Finding("P3", f"GET inspect / in process, {size:,} parts", 1.2, measured)


def cold(ground: Ground) -> Iterator[Finding]:
    """P4, P5: counting everything anew, over counting alone."""
    session = ground.session(LARGE, cold=True)
    strings = weighed(generator.session(LARGE))
    mine: list[float] = []
    raw: list[float] = []
    building: list[float] = []
    calls: list[tuple[list[float], Callable[[], object]]] = [
        (mine, lambda: answer(ground, session)),
        (raw, lambda: [len(ENCODE(text)) for text in strings]),
        (building, lambda: uncounted(ground, session)),
    ]
    for _, call in calls:
        call()
    for _ in range(9):
        for kept, call in calls:
            kept.append(seconds(call))
    both = [one + other for one, other in zip(raw, building, strict=True)]
    what = "cold inspect / raw tiktoken + loading and building"
    yield Finding("P4", what, 1.10, _over(mine, both))
    yield Finding("P5", "cold inspect / raw tiktoken", 1.35, _over(mine, raw))


def growth(ground: Ground) -> Iterator[Finding]:
    """P6: how the time of an inspect grows from 1,000 to 10,000 parts."""
    mine, theirs = [], []
    with rows(ground, _HEADERS) as headers:
        for _ in range(_ROUNDS):
            small, large = (_medians(ground, size, headers) for size in (SMALL, LARGE))
            mine.append(exponent(small[0], large[0], LARGE / SMALL))
            theirs.append(exponent(small[1], large[1], LARGE / SMALL))
    beyond = spread(one - other for one, other in zip(mine, theirs, strict=True))
    yield Finding("P6", "growth exponent of warm inspect", 1.15, spread(mine))
    yield Finding("P6", "the same less the yardstick's exponent", 0.05, beyond)


def memory(ground: Ground) -> Iterator[Finding]:
    """P8: what one inspect needs at most beside what was there, over the size of its answer."""
    what = "peak extra memory / size of the answer"
    if sys.platform != "linux":
        yield Finding("P8", what, 6, None, "needs Linux's /proc")
        return
    found = [_peak(ground) for _ in range(_ROUNDS)]
    yield Finding("P8", what, 6, spread(found))


GOALS: Mapping[str, Callable[[Ground], Iterator[Finding]]] = {
    "P1": warm,
    "P2": against_content,
    "P3": over_http,
    "P4": cold,
    "P5": cold,
    "P6": growth,
    "P8": memory,
}


def answer(ground: Ground, session: UUID) -> bytes:
    """The whole answer of an inspect, as the endpoint makes it."""
    with ground.database.reading(ground.principal) as tx:
        whole = context.inspect(tx, session)
    return msgspec.json.encode(context.page_of_messages(whole, None, None))


def uncounted(ground: Ground, session: UUID) -> bytes:
    """What a cold inspect does but for counting: load everything, decode, build, encode."""
    with ground.database.reading(ground.principal) as tx:
        agent = tx.agents.used_by(tx.sessions.get(session))
        estimator = estimator_for(agent.model)
        history = tx.messages.history(session, counted_by=estimator.id)
        contents = tx.messages.contents(session, [each.seq for each in history.messages])
        for each in history.messages:
            orjson.loads(contents[each.seq])
            each.tokens = 0
        state = RunState(agent, session, history)
        reads = Reads(tx.sources, tx.overrides, tx.thinking, tx.messages)
        chain = default_chain(reads, estimator)
        chain.before_run(state)
        whole = snapshot(chain.model_call(state, capture), estimator)
    return msgspec.json.encode(whole)


def weighed(messages: list[generator.Message]) -> list[str]:
    """The strings of which the estimator counts the tokens."""
    rendering = Rendering(facts_for(MODEL).image_tier)
    for message in messages:
        rendering.blocks(message["content"])
    return rendering.texts


def overridden(ground: Ground, size: int) -> UUID:
    """A session with its messages' exclusions saved, pair partners included."""
    session = ground.session(size, copy="overridden")
    wishes = [Wish(f"message:{seq}", "exclude") for seq in range(EVERY // 2, size, EVERY)]
    with ground.database.transaction(ground.principal) as tx:
        overrides.replace(tx, Target("session", session), wishes)
    return session


@contextmanager
def rows(ground: Ground, columns: str) -> Iterator[Callable[[UUID], list[Any]]]:
    """Loads columns of a session's messages with the bare driver: as the same role, by the key."""
    tenant = str(ground.principal.tenant_id)
    query = f"SELECT {columns} FROM messages WHERE tenant_id = %s AND session_id = %s ORDER BY seq"
    with closing(psycopg2.connect(ground.services.database_url)) as connection:

        def load(session: UUID) -> list[Any]:
            with connection, connection.cursor() as cursor:
                # Other sessions in the table shall not slow the yardstick down.
                cursor.execute(
                    "SET LOCAL enable_seqscan = off;SELECT set_config('hango.tenant', %s, true)",
                    [tenant],
                )
                cursor.execute(query, [tenant, str(session)])
                return cursor.fetchall()

        yield load


@contextmanager
def http(ground: Ground) -> Iterator[Callable[[str], bytes]]:
    """Sends GET requests over one kept connection."""
    headers = {"Authorization": f"Bearer {ground.key}"}
    with closing(HTTPConnection(urlsplit(ground.url).netloc)) as connection:

        def get(path: str) -> bytes:
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            body = response.read()
            if response.status != 200:
                raise RuntimeError(f"{path}: {response.status} {body[:200]!r}")
            return body

        yield get


def _medians(
    ground: Ground, size: int, headers: Callable[[UUID], list[Any]]
) -> tuple[float, float]:
    """Of an inspect of this size, and of its yardstick."""
    session = overridden(ground, size)
    found = pairs(lambda: answer(ground, session), lambda: orjson.dumps(headers(session)), 9)
    return median(mine for mine, _ in found), median(theirs for _, theirs in found)


def _over(mine: list[float], theirs: list[float]) -> Spread:
    return spread(one / other for one, other in zip(mine, theirs, strict=True))


def _peak(ground: Ground) -> float:
    told = {
        "database_url": ground.services.database_url,
        "tenant": str(ground.principal.tenant_id),
        "user": str(ground.principal.user_id),
        "warm_up": str(ground.session(100)),
        "session": str(overridden(ground, LARGE)),
    }
    done = subprocess.run(
        [sys.executable, "-m", "bench.peak"],
        input=json.dumps(told).encode(),
        stdout=subprocess.PIPE,
        check=True,
    )
    return float(done.stdout)
