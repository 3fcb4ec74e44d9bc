"""PatchToolCalls: an answer for every call that was interrupted, and a user's turn at the end."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile

from app.chain.made import made_message
from app.chain.middleware import CallNext, Middleware, Reply
from app.domain.blocks import SERVER
from app.domain.messages import MadeMessage, MessageRef
from app.domain.parts import CONTINUE, synthetic_part
from app.domain.ports import Estimator
from app.domain.requests import ModelRequest

NO_RESULT = "There is no result: this call was interrupted before it ended."


class PatchToolCalls(Middleware):
    """Makes a history sendable that ends, or was cut, in the middle of a turn.

    Messages API, handle tool calls: every `tool_use` needs its `tool_result` in the next user
    turn. What is added is listed as `synthetic:…` and never persisted.
    """

    def __init__(self, estimator: Estimator) -> None:
        self._estimator = estimator

    def wrap_model_call(self, request: ModelRequest, call_next: CallNext) -> Reply:
        messages = ending_on_user(answered(request.messages, self._estimator), self._estimator)
        return call_next(replace(request, messages=messages))


def answered(messages: list[MessageRef], estimator: Estimator) -> list[MessageRef]:
    """The messages with a synthetic error result for each call that has none.

    Neighbouring messages of one role are one turn to the provider, so results are looked for in
    all user messages up to the next assistant message.
    """
    lacking = _calls_without_result(messages)
    if not lacking:
        return messages
    patched: list[MessageRef] = []
    done = 0
    for place, calls in _places(messages, lacking).items():
        patched += messages[done : place + 1]
        patched += [_missing_result(call, estimator) for call in calls]
        done = place + 1
    return patched + messages[done:]


def ending_on_user(messages: list[MessageRef], estimator: Estimator) -> list[MessageRef]:
    """The messages with a synthetic user turn behind a last turn of the assistant.

    Models from 4.6 on refuse a conversation that ends on the assistant's turn. A turn that was
    paused inside a server tool is continued as it is.
    """
    if not messages or messages[-1].role != "assistant" or _is_paused(messages):
        return messages
    blocks = [{"type": "text", "text": "[Continue]"}]
    made = MadeMessage(CONTINUE, "continue", "the history ends on the assistant's turn", blocks)
    return [*messages, made_message("user", made, estimator)]


def _calls_without_result(messages: list[MessageRef]) -> set[str]:
    """Stored results always stand behind their call, so it is enough to look for their ids."""
    calls = " ".join([each.tool_use_ids for each in messages if each.tool_use_ids])
    results = " ".join([each.tool_result_ids for each in messages if each.tool_result_ids])
    # The provider answers its own calls within the turn.
    lacking = set(calls.split()).difference(results.split())
    return {each for each in lacking if not each.startswith(SERVER)}


def _places(messages: list[MessageRef], lacking: set[str]) -> dict[int, list[str]]:
    """By the index of the message behind which their results belong, in order: the calls."""
    places: dict[int, list[str]] = {}
    turn = _Turn(lacking)
    for index in range(_first_holder(messages, lacking), len(messages)):
        message = messages[index]
        if message.role == "assistant":
            if turn.answering:
                turn.end(places)
            turn.call(message, index)
        elif turn.calls:
            turn.answer(message, index)
            if message.role == "system":
                turn.end(places)
    turn.end(places)
    return places


def _first_holder(messages: list[MessageRef], lacking: set[str]) -> int:
    return next(
        index
        for index, each in enumerate(messages)
        if each.tool_use_ids and not lacking.isdisjoint(each.tool_use_ids.split())
    )


def _is_paused(messages: list[MessageRef]) -> bool:
    """Whether the last turn, the assistant's, waits for a tool that the provider runs."""
    waiting: set[str] = set()
    for message in takewhile(lambda each: each.role == "assistant", reversed(messages)):
        waiting.update(message.tool_use_ids.split())
        waiting.difference_update(message.tool_result_ids.split())
    return any(each.startswith(SERVER) for each in waiting)


class _Turn:
    """The assistant's turn at hand, and the user messages that answer its calls."""

    __slots__ = ("_lacking", "answering", "calls", "place")

    def __init__(self, lacking: set[str]) -> None:
        self._lacking = lacking
        self.calls: list[str] = []  # those without a result, in their order
        self.place = -1  # of the last message that holds a call or a result
        self.answering = False

    def call(self, message: MessageRef, index: int) -> None:
        self.calls += [each for each in message.tool_use_ids.split() if each in self._lacking]
        self.place = index

    def answer(self, message: MessageRef, index: int) -> None:
        self.answering = True
        if message.tool_result_ids:
            self.place = index

    def end(self, places: dict[int, list[str]]) -> None:
        if self.calls:
            places[self.place] = self.calls
        self.calls = []
        self.answering = False


def _missing_result(call: str, estimator: Estimator) -> MessageRef:
    result = {"type": "tool_result", "tool_use_id": call, "content": NO_RESULT, "is_error": True}
    part = synthetic_part(f"result:{call}")
    made = MadeMessage(part, "missing result", f"call {call}", [result])
    return made_message("user", made, estimator)
