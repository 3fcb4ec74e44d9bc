"""Carries out the tool calls of one answer, together, and gives their results in call order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from contextvars import copy_context

import structlog

from app.domain.ids import identifier
from app.domain.messages import Block
from app.domain.requests import Tool
from app.domain.tools import ToolCall, ToolOutcome
from app.errors import Failure
from app.telemetry import logs, names, spans
from app.telemetry.spans import Span

log = structlog.get_logger(__name__)

MOST_AT_ONCE = 8

NOBODY = "No tool of this name can be carried out here."
FAILED = "The tool failed. It may help to call it differently."
TOO_SLOW = "There is no result: the tool did not end in time."
STOPPED = "There is no result: the run was cancelled before this call began."

OnCall = Callable[[ToolCall, ToolOutcome | None], None]
"""Hears of each call when it begins, without an outcome, and when it has ended."""


def carry_out(
    calls: Sequence[ToolCall],
    tools: Iterable[Tool],
    *,
    deadline: float,
    cancelled: Callable[[], bool],
    on_call: OnCall,
) -> list[Block]:
    """The `tool_result` blocks of all calls. Every call gets one, whatever becomes of it.

    Ends by `deadline`, a moment of `time.monotonic()`: a tool that is still at work then is left
    to itself, and its outcome is not waited for.
    """
    by_name = {tool.name: tool for tool in tools}

    def one(call: ToolCall) -> ToolOutcome:
        if cancelled():
            return ToolOutcome(STOPPED, is_error=True)
        on_call(call, None)
        with _span(call, by_name) as span:
            outcome = _outcome(call, by_name)
            if outcome.is_error:
                span.failed("tool_error")
        on_call(call, outcome)
        return outcome

    pool = ThreadPoolExecutor(min(len(calls), MOST_AT_ONCE), thread_name_prefix="tool")
    try:
        # With the context of this thread: what it logs and traces belongs to this run.
        futures = [pool.submit(copy_context().run, one, call) for call in calls]
        wait(futures, timeout=max(0.0, deadline - time.monotonic()))
        return [_result(call, _now(future)) for call, future in zip(calls, futures, strict=True)]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _span(call: ToolCall, by_name: Mapping[str, Tool]) -> AbstractContextManager[Span]:
    """A name that no tool of the agent has is the model's invention, and stays out."""
    name = call.name if call.name in by_name else None
    attributes = {
        names.OPERATION: names.TOOL,
        names.TOOL_NAME: name,
        names.TOOL_CALL_ID: identifier(call.id),
    }
    return spans.begun(f"{names.TOOL} {name}" if name else names.TOOL, attributes=attributes)


def _now(future: Future[ToolOutcome]) -> ToolOutcome:
    return future.result() if future.done() else ToolOutcome(TOO_SLOW, is_error=True)


def _outcome(call: ToolCall, by_name: Mapping[str, Tool]) -> ToolOutcome:
    tool = by_name.get(call.name)
    if tool is None or tool.handler is None:
        return ToolOutcome(NOBODY, is_error=True)
    try:
        return tool.handler(call)
    except Failure as failure:
        log.warning("tool_refused", code=failure.code, where=logs.where(failure))
        return ToolOutcome(failure.detail or failure.title, is_error=True)
    except Exception as error:  # noqa: BLE001 - a tool's fault must not end the run
        log.error("tool_failed", kind=type(error).__name__, where=logs.where(error))
        return ToolOutcome(FAILED, is_error=True)


def _result(call: ToolCall, outcome: ToolOutcome) -> Block:
    block: Block = {"type": "tool_result", "tool_use_id": call.id, "content": outcome.content}
    return block | {"is_error": True} if outcome.is_error else block
