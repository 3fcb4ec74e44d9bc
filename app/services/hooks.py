"""Context hooks: a server is asked before a model call, and told afterwards what became of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import structlog

from app.domain.injections import Hook, Injected
from app.domain.ports import Estimator
from app.domain.text import clean
from app.domain.usage import EndedCall
from app.errors import AddressRefused, Failure
from app.tools.bounds import Cancelled, never
from app.tools.client import Incoming, Outgoing, OutsideClient

log = structlog.get_logger(__name__)

MOST_BYTES = 512 * 2**10  # of an answer
MOST_CHARACTERS_TOLD = 32_000  # of the user's text
LAST_WORD_SECONDS = 2.0  # for a hook to take note, where nobody wants to wait any more
OK, NO_CONTENT = 200, 204

BAD_ANSWER, TOO_LONG = "hook_answer_unusable", "hook_answer_too_long"


class Question(NamedTuple):
    """A hook that is to be asked, with the values of its headers."""

    hook: Hook
    headers: Mapping[str, str]


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What every hook of a call is told, before and after."""

    call_id: UUID  # the same in both
    purpose: str  # turn, subagent, context_try; inspect: nothing will be called
    agent_id: UUID
    session_id: UUID
    run_id: UUID | None
    try_id: UUID | None
    model: str


class _Before(Told, frozen=True, kw_only=True):
    last_user_text: str  # as the request has it: with overrides
    event: str = "before_model_call"


class _After(Told, frozen=True, kw_only=True):
    outcome: str
    usage: dict[str, int | None] | None
    event: str = "after_model_call"


class _Answer(msgspec.Struct):
    text: str = ""


def before(  # noqa: PLR0913 (all that one is asked by)
    client: OutsideClient,
    question: Question,
    told: Told,
    text: str,
    seconds: float,
    cancelled: Cancelled,
    estimator: Estimator,
) -> tuple[Injected, bool]:
    """What the hook has to say, and whether it can have heard of the call. Never raises.

    `cancelled` is asked about twice a second; then nobody waits for the answer any more.
    """
    hook = question.hook
    body = _Before(**msgspec.structs.asdict(told), last_user_text=text[:MOST_CHARACTERS_TOLD])
    try:
        answer = _send(client, hook.before_url, question.headers, body, seconds, cancelled)
    except Failure as failure:
        log.warning("injection_failed", injection=hook.name, code=failure.code)
        return Injected(hook.name, code=failure.code), not isinstance(failure, AddressRefused)
    injected = _understood(hook, answer, estimator)
    if injected.code:
        log.warning("injection_failed", injection=hook.name, code=injected.code)
    return injected, True


def after(  # noqa: PLR0913 (all that one is told by)
    client: OutsideClient,
    question: Question,
    told: Told,
    outcome: str,
    ended: EndedCall | None,
    stopped: Cancelled = never,
) -> None:
    """Tell the hook what became of the call: figures, no content. Never raises.

    Where the work around it is `stopped`, it has LAST_WORD_SECONDS to take note.
    """
    hook = question.hook
    most = time.monotonic() + LAST_WORD_SECONDS
    body = _After(**msgspec.structs.asdict(told), outcome=outcome, usage=_usage(ended))
    try:
        url = hook.after_url or hook.before_url
        _send(
            client,
            url,
            question.headers,
            body,
            hook.timeout_seconds,
            lambda: time.monotonic() >= most and stopped(),
        )
    except Failure as failure:
        log.warning("hook_not_told", injection=hook.name, code=failure.code)


def _send(  # noqa: PLR0913 (what a request is made of)
    client: OutsideClient,
    url: str,
    headers: Mapping[str, str],
    body: Told,
    seconds: float,
    cancelled: Cancelled,
) -> Incoming:
    return client.send(
        Outgoing(
            method="POST",
            url=url,
            headers={"content-type": "application/json", **headers},
            content=msgspec.json.encode(body),
            seconds=seconds,
            max_bytes=MOST_BYTES,
        ),
        cancelled,
    )


def _understood(hook: Hook, answer: Incoming, estimator: Estimator) -> Injected:
    if answer.status == NO_CONTENT:
        return Injected(hook.name)
    if answer.status != OK or answer.is_cut:
        return Injected(hook.name, code=TOO_LONG if answer.is_cut else BAD_ANSWER)
    try:
        text = clean(msgspec.json.decode(answer.body, type=_Answer).text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Injected(hook.name, code=BAD_ANSWER)
    if not text.strip():
        return Injected(hook.name)
    if estimator.system_block(text).tokens > hook.tokens:
        return Injected(hook.name, code=TOO_LONG)
    return Injected(hook.name, text)


def _usage(ended: EndedCall | None) -> dict[str, Any] | None:
    if ended is None:
        return None
    names = ("input", "output", "cache_read", "cache_write")
    return {f"{name}_tokens": getattr(ended, f"{name}_tokens") for name in names}
