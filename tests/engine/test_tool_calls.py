"""The tool calls of one answer: together, in order, and never the end of a run."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from app.domain.parts import tool_part
from app.domain.requests import Tool
from app.domain.tools import ToolCall, ToolHandler, ToolOutcome
from app.engine import tool_calls
from app.errors import Refused

CALLS = [ToolCall(f"toolu_{n}", "work", {"n": n}) for n in range(3)]


@pytest.fixture
def forever() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def results(
    handler: ToolHandler | None, *, seconds: float = 20, cancelled: bool = False, name: str = "work"
) -> list[tuple[str, str, bool]]:
    """What CALLS come to: call, text, and whether it is an error."""
    tool = Tool(tool_part(name), name, {"name": name}, "test", "test", handler=handler)
    blocks = tool_calls.carry_out(
        CALLS,
        [tool],
        deadline=time.monotonic() + seconds,
        cancelled=lambda: cancelled,
        on_call=lambda *_: None,
    )
    assert [block["type"] for block in blocks] == ["tool_result"] * len(CALLS)
    return [(b["tool_use_id"], b["content"], b.get("is_error", False)) for b in blocks]


def test_they_run_together_and_are_answered_in_their_order() -> None:
    all_there = threading.Barrier(len(CALLS), timeout=20)
    ended: list[str] = []

    def work(call: ToolCall) -> ToolOutcome:
        place = all_there.wait()  # nobody goes on before everybody is there
        ended.append(call.id)
        return ToolOutcome(f"{call.input['n']}" if place >= 0 else "")

    assert results(work) == [(each.id, str(n), False) for n, each in enumerate(CALLS)]
    assert sorted(ended) == [each.id for each in CALLS]


def test_a_tool_that_nobody_carries_out_says_so() -> None:
    nobody = [(each.id, tool_calls.NOBODY, True) for each in CALLS]

    assert results(None) == nobody
    assert results(lambda _: ToolOutcome(""), name="other") == nobody


def test_a_failing_tool_tells_the_model_and_nothing_of_the_fault() -> None:
    def work(call: ToolCall) -> ToolOutcome:
        if call.input["n"] == 0:
            raise Refused("Take another.")
        if call.input["n"] == 1:
            raise ValueError("canary-4711")
        return ToolOutcome("fine")

    assert [text for _, text, _ in results(work)] == ["Take another.", tool_calls.FAILED, "fine"]


def test_a_tool_that_does_not_end_is_left_to_itself(forever: threading.Event) -> None:
    def work(call: ToolCall) -> ToolOutcome:
        if call.input["n"] == 1:
            forever.wait()
        return ToolOutcome("done")

    texts = [text for _, text, _ in results(work, seconds=0.5)]

    assert texts == ["done", tool_calls.TOO_SLOW, "done"]


def test_no_call_begins_once_the_run_is_cancelled() -> None:
    def work(_: ToolCall) -> ToolOutcome:
        raise AssertionError("it began")

    assert {text for _, text, _ in results(work, cancelled=True)} == {tool_calls.STOPPED}
