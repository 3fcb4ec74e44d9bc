"""Gathers an agent's injections before a model call, with nothing open meanwhile.

What is left out by an override is not gathered: nobody outside hears of the call. A hook that was
asked is told afterwards how the call ended, whatever ended it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple
from uuid import UUID

import structlog

from app.chain.middlewares.context_overrides import overrides_of
from app.domain.agents import Agent
from app.domain.ids import new_id
from app.domain.injections import (
    FILES_LEFT_OUT,
    Hook,
    Injected,
    Injection,
    Retrieval,
    Source,
    part_of,
)
from app.domain.jsontext import loads
from app.domain.parts import CONTINUE
from app.domain.ports import Estimator
from app.domain.principals import Principal
from app.domain.requests import ModelRequest
from app.domain.retrieval import Passage, passages, ranked
from app.domain.usage import EndedCall
from app.domain.work import Loaded
from app.errors import SecretsUnavailable
from app.provider.base import Cancelled as AskCancelled
from app.provider.call import Call
from app.provider.failures import Cancelled
from app.runtime import Runtime
from app.services import context, hooks
from app.services.calls import MadeFor
from app.services.context import Assembled
from app.services.hooks import Question, Told
from app.store.transaction import Transaction

log = structlog.get_logger(__name__)

MOST_AT_ONCE = 8
MOST_BYTES_SEARCHED = 4 * 2**20  # a call waits for it
NOT_MADE, UNKNOWN, INSPECTED = "not_made", "unknown", "inspected"

HEADING = "## Passages of files that may matter for the last message"

Tell = Callable[[str, Mapping[str, Any]], None]


@dataclass
class Gathering:
    """What was gathered for one request, and what became of the call."""

    injected: Sequence[Injected] | None = None  # None: nothing was to be
    outcome: str = NOT_MADE
    ended: EndedCall | None = None
    asked: list[Question] = field(default_factory=list)  # to be told afterwards

    def begun(self) -> None:
        """From now on the call may have been made, whatever becomes of it."""
        self.outcome = UNKNOWN

    def note(self, ended: EndedCall) -> None:
        """Keep what the call came to."""
        self.outcome, self.ended = ended.outcome, ended


@contextmanager
def gathered(  # noqa: PLR0913 (what a call is made of)
    runtime: Runtime,
    principal: Principal,
    made_for: MadeFor,
    loaded: Loaded,
    *,
    deadline: float,
    cancelled: AskCancelled,
    tell: Tell = lambda _kind, _data: None,
) -> Iterator[Gathering]:
    """Gather for a call that is made in the block; `note` there what it came to.

    `deadline`: by `time.monotonic()`. `tell` hears of injections that failed.

    Raises:
        Cancelled, DeadlinePassed: while hooks were asked; the call is not made.
    """
    if not loaded.agent.injections:
        yield Gathering()
        return
    with runtime.database.reading(principal) as tx:
        sources = _read(tx, context.assemble(tx, made_for.session_id, loaded=loaded))
    told = Told(
        call_id=new_id(),
        purpose=made_for.purpose,
        agent_id=made_for.agent_id,
        session_id=made_for.session_id,
        run_id=made_for.run_id,
        try_id=made_for.try_id,
        model=loaded.agent.model,
    )
    bounds = Call(deadline, cancelled)
    with _around(runtime, sources, told, bounds) as gathering:
        bounds.patience()
        for each in gathering.injected or ():
            if each.state == "failed":
                tell("injection.failed", {"name": each.name, "code": each.code})
        yield gathering


@contextmanager
def inspected(runtime: Runtime, principal: Principal, session_id: UUID) -> Iterator[Gathering]:
    """Gather for an inspect: hooks are told that nothing was called."""
    with runtime.database.reading(principal) as tx:
        assembled = context.assemble(tx, session_id)
        sources = _read(tx, assembled)
    agent = assembled.state.agent
    told = Told(
        call_id=new_id(),
        purpose="inspect",
        agent_id=agent.id,
        session_id=session_id,
        run_id=None,
        try_id=None,
        model=agent.model,
    )
    with _around(runtime, sources, told, Call(float("inf"))) as gathering:
        gathering.outcome = INSPECTED
        yield gathering


class _Read(NamedTuple):
    """What gathering goes by, read before anything is asked."""

    wanted: Sequence[Injection]
    text: str  # the user's last one, as the request has it
    contents: Mapping[Source, Mapping[str, str]]  # by path
    files_left_out: bool  # there is more of them than is searched
    headers: Mapping[str, Mapping[str, str]] | None  # of hooks, by name; None: not to be opened
    estimator: Estimator


def _read(tx: Transaction, assembled: Assembled) -> _Read:
    agent, overrides = assembled.state.agent, overrides_of(assembled.state)
    wanted = [each for each in agent.injections if not overrides.excludes(part_of(each.name))]
    over = {source for each in wanted if isinstance(each, Retrieval) for source in each.over}
    contents: dict[Source, Mapping[str, str]] = {}
    left_out = False
    if "memory" in over:
        contents["memory"] = {each.path: each.content for each in tx.sources.memory(agent.id)}
    if "files" in over:
        session_id = assembled.state.session_id
        files = sorted(tx.files.of(session_id), key=lambda each: (each.size_bytes, each.path))
        sums = accumulate(each.size_bytes for each in files)
        fitting = sum(1 for size in sums if size <= MOST_BYTES_SEARCHED)
        found = tx.files.contents(session_id, [each.path for each in files[:fitting]])
        contents["files"] = dict(sorted(found.items()))
        left_out = fitting < len(files)
    text = _last_user_text(tx, assembled.request) if wanted else ""
    headers = _headers(tx, agent)
    return _Read(wanted, text, contents, left_out, headers, assembled.estimator)


def _headers(tx: Transaction, agent: Agent) -> Mapping[str, Mapping[str, str]] | None:
    if not any(isinstance(each, Hook) and each.header_names for each in agent.injections):
        return {}
    try:
        return tx.hook_headers.of(agent.id)
    except SecretsUnavailable as failure:
        log.warning("hook_headers_unavailable", code=failure.code)
        return None


def _last_user_text(tx: Transaction, request: ModelRequest) -> str:
    """What the user said last in this request, past the results of tools; empty: nothing."""
    for ref in reversed(request.messages):
        if ref.role != "user" or ref.tool_result_ids or ref.part == CONTINUE:
            continue
        stored = {} if ref.made else tx.messages.contents(request.state.session_id, [ref.seq])
        blocks = ref.made.blocks if ref.made else loads(stored[ref.seq])
        texts = [block["text"] for block in blocks if block.get("type") == "text"]
        if texts:
            return "\n\n".join(texts)
    return ""


@contextmanager
def _around(runtime: Runtime, read: _Read, told: Told, bounds: Call) -> Iterator[Gathering]:
    """Ask within the bounds, let the block run, and tell those that were asked."""
    gathering = Gathering()
    if not read.wanted:
        yield gathering
        return
    client = runtime.outside

    def ask(each: Injection) -> Injected:
        if isinstance(each, Retrieval):
            return _retrieved(each, read)
        if read.headers is None and each.header_names:
            return Injected(each.name, code=SecretsUnavailable.code)
        if bounds.is_over():
            return Injected(each.name, code=Cancelled.code)
        question = Question(each, (read.headers or {}).get(each.name, {}))
        seconds = max(0.0, min(each.timeout_seconds, bounds.remaining))
        # Before the answer is here: whoever was asked is told, even when nobody waits any more.
        gathering.asked.append(question)
        injected, heard = hooks.before(
            client, question, told, read.text, seconds, bounds.is_over, read.estimator
        )
        if not heard:
            gathering.asked.remove(question)
        return injected

    with ThreadPoolExecutor(min(len(read.wanted), MOST_AT_ONCE), "injection") as pool:
        try:
            asking = [pool.submit(copy_context().run, ask, each) for each in read.wanted]
            gathering.injected = [each.result() for each in asking]
            yield gathering
        finally:
            outcome, ended, over = gathering.outcome, gathering.ended, bounds.is_over
            for one in gathering.asked:
                pool.submit(
                    copy_context().run, hooks.after, client, one, told, outcome, ended, over
                )


def _retrieved(wanted: Retrieval, read: _Read) -> Injected:
    found = [
        passage
        for source in wanted.over
        for path, content in read.contents[source].items()
        for passage in passages(path, content)
    ]
    text, code = "", FILES_LEFT_OUT if read.files_left_out and "files" in wanted.over else None
    for passage in ranked(read.text, found)[: wanted.passages]:
        longer = f"{text}\n\n{_shown(passage)}" if text else f"{HEADING}\n\n{_shown(passage)}"
        if read.estimator.system_block(longer).tokens > wanted.tokens:
            continue  # a shorter one may fit
        text = longer
    return Injected(wanted.name, text, code)


def _shown(passage: Passage) -> str:
    return f"### {passage.path}, lines {passage.first} to {passage.last}\n\n{passage.text}"
