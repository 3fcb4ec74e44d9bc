"""Model calls: the adapter, a turn of a run, what the guard costs, a window of a long session.

P9, P14, P29, and the overhead of a turn over a direct call of the SDK to the same server.
"""

from __future__ import annotations

import bisect
import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from urllib.parse import urlsplit
from uuid import UUID

from app.chain.counts import count
from app.chain.middlewares.guard import Decision, budget_of
from app.domain.checkpoints import NewCheckpoint
from app.domain.messages import prepare
from app.provider.anthropic import AnthropicProvider
from app.runtime import Runtime, build_runtime
from app.services import context, execution, runs
from app.settings import Secret, Settings
from app.tokens.estimator import estimator_for
from bench import bare, generator
from bench.measure import Finding, Spread, ratio, seconds, spread
from bench.servers import MODEL, Ground, prepared
from bench.stub import TURNS, USE_TOOLS

LARGE = 10_000  # messages
WINDOW_TOKENS = 150_000
_CALLS = 100
_DELAY = 0.05  # seconds that the provider takes
_ROUNDS = 9
_FAR = 3600.0


def adapter(ground: Ground) -> Iterator[Finding]:
    """P29: a call through the adapter over the SDK's own, both streamed, one connection each."""
    url = ground.stub(0)
    theirs_client = bare.client(url)
    with closing(AnthropicProvider(bare.KEY, url)) as provider:

        def mine() -> None:
            for _ in range(20):
                provider.complete(bare.BODY, deadline=time.monotonic() + _FAR)

        def theirs() -> None:
            for _ in range(20):
                bare.ask(theirs_client)

        measured = ratio(mine, theirs, 15)
        before = connections(url)
        for _ in range(_CALLS):
            provider.complete(bare.BODY, deadline=time.monotonic() + _FAR)
        # Asking is a connection, too.
        more = connections(url) - before - 1
    yield Finding("P29", "a call by the adapter / messages.create, streamed", 1.15, measured)
    yield Finding("P29", f"new connections in {_CALLS} calls", 0, spread([more]))


def turn(ground: Ground) -> Iterator[Finding]:
    """A run's turns, all rows written, over direct calls of the SDK."""
    url = ground.stub(_DELAY)
    client = bare.client(url)
    with running(ground, url) as runtime:
        for words, turns in (("Answer at once.", 1), (USE_TOOLS, TURNS)):
            measured = _turns(ground, runtime, lambda: bare.ask(client), words, turns)
            what = f"a turn of a run of {turns} / a direct call of {_DELAY * 1000:.0f} ms"
            yield Finding("turn", what, None, measured)


def _turns(
    ground: Ground, runtime: Runtime, call: Callable[[], object], words: str, turns: int
) -> Spread:
    found = []
    for number in range(_ROUNDS + 1):
        run = _queued(ground, runtime, words)
        mine = seconds(lambda run=run: execution.execute(runtime, run))  # type: ignore[misc]
        theirs = seconds(call)
        if number:  # the first one warms up
            found.append(mine / turns / theirs)
        with runtime.database.reading(ground.principal) as tx:
            shown = runs.get(tx, run)
            assert (shown.status, shown.run.turns) == ("succeeded", turns), shown
    return spread(found)


def guard(ground: Ground) -> Iterator[Finding]:
    """P9: what the guard does with the counts in memory, over LangChain's approximate count."""
    what = f"the guard's decision on {LARGE} messages / LangChain's approximate count"
    try:
        from langchain_core.messages import (  # noqa: PLC0415 - a peer that may be missing
            AIMessage,
            HumanMessage,
        )
        from langchain_core.messages.utils import count_tokens_approximately  # noqa: PLC0415
    except ImportError:
        yield Finding("P9", what, 0.1, None, "pip install langchain-core")
        return
    kinds = {"user": HumanMessage, "assistant": AIMessage}
    theirs = [
        kinds[each["role"]](content=json.dumps(each["content"]))
        for each in generator.session(LARGE)
    ]
    session = ground.session(LARGE)
    with ground.database.reading(ground.principal) as tx:
        assembled = context.assemble(tx, session)
        request, estimator = assembled.request, assembled.estimator
        measured = ratio(
            lambda: Decision(budget_of(request.state), count(request, estimator)).would_compact,
            lambda: count_tokens_approximately(theirs),
            15,
        )
    yield Finding("P9", what, 0.1, measured)


def window(ground: Ground) -> Iterator[Finding]:
    """P14: the end of a long session behind its summary, over a session of that end alone."""
    messages = prepared(LARGE)
    tokens = list(itertools.accumulate(each.tokens for each in reversed(messages)))
    kept = bisect.bisect(tokens, WINDOW_TOKENS)
    long, short = ground.session(LARGE, copy="summarized"), ground.empty_session()
    covers = LARGE - kept
    with ground.database.transaction(ground.principal) as tx:
        tx.messages.append(short.id, messages[covers:])
        for session, covered in ((tx.sessions.get(long), covers), (short, 1)):
            tx.checkpoints.add(session, _summary(covered))

    def started(session: UUID) -> Callable[[], object]:
        def start() -> object:
            with ground.database.reading(ground.principal) as tx:
                return context.assemble(tx, session)

        return start

    measured = ratio(started(long), started(short.id), 15)
    what = f"start of a run on {kept} of {LARGE} messages behind a summary / on these alone"
    yield Finding("P14", what, 1.5, measured)


def _summary(covers: int) -> NewCheckpoint:
    blocks = [{"type": "text", "text": "So far."}]
    return NewCheckpoint(
        covers_seq=covers,
        summary=prepare("user", blocks, estimator_for(MODEL)),
        label="Summary",
        origin="bench",
        trigger="manual",
    )


@contextmanager
def running(ground: Ground, url: str) -> Iterator[Runtime]:
    """What a worker is made of, in this process."""
    services = ground.services
    runtime = build_runtime(
        Settings(
            database_url=Secret(services.database_url),
            redis_url=Secret(services.redis_url),
            provider="anthropic",
            anthropic_api_key=Secret(bare.KEY),
            anthropic_base_url=url,
        )
    )
    try:
        yield runtime
    finally:
        runtime.provider.close()
        runtime.database.dispose()
        runtime.redis.close()
        runtime.queue.close()


def _queued(ground: Ground, runtime: Runtime, words: str) -> UUID:
    """A queued run in a session of its own, which no worker is told of."""
    session = ground.empty_session()
    with ground.database.transaction(ground.principal) as tx:
        return runs.begin(tx, session.id, words, None, now=runtime.now()).id


def connections(url: str) -> int:
    """How many connections the provider at this URL has ever accepted, this one included."""
    with closing(HTTPConnection(urlsplit(url).netloc)) as connection:
        connection.request("GET", "/stats")
        return int(json.loads(connection.getresponse().read())["connections"])


GOALS: Mapping[str, Callable[[Ground], Iterator[Finding]]] = {
    "P9": guard,
    "P14": window,
    "P29": adapter,
    "turn": turn,
}
