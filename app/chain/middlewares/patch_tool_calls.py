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
    missing = _unanswered(messages)
    if not missing:
        return messages
    patched: list[MessageRef] = []
    for index, message in enumerate(messages):
        patched.append(message)
        for call in missing.get(index, ()):
            patched.append(_missing_result(call, estimator))
    return patched


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


def _unanswered(messages: list[MessageRef]) -> dict[int, list[str]]:
    """Calls that get no result, by the index of the message behind which one belongs."""
    missing: dict[int, list[str]] = {}
    turn = _Turn()
    for index, message in enumerate(messages):
        if message.role == "assistant":
            if turn.answering:
                turn.end(missing)
            if message.tool_use_ids:
                turn.calls.update(dict.fromkeys(_client_ids(message.tool_use_ids)))
            turn.place = index
        elif turn.calls:
            turn.answer(message, index)
            if message.role == "system":
                turn.end(missing)
    turn.end(missing)
    return missing


def _client_ids(ids: str) -> list[str]:
    """Those calls that hango has to answer; the provider answers its own within the turn."""
    return [each for each in ids.split() if not each.startswith(SERVER)]


def _is_paused(messages: list[MessageRef]) -> bool:
    """Whether the last turn, the assistant's, waits for a tool that the provider runs."""
    waiting: set[str] = set()
    for message in takewhile(lambda each: each.role == "assistant", reversed(messages)):
        waiting.update(message.tool_use_ids.split())
        waiting.difference_update(message.tool_result_ids.split())
    return any(each.startswith(SERVER) for each in waiting)


class _Turn:
    """The assistant's turn at hand, and the user messages that answer its calls."""

    __slots__ = ("answering", "calls", "place")

    def __init__(self) -> None:
        self.calls: dict[str, None] = {}  # without a result so far, in their order
        self.place = -1  # of the last message that holds a call or a result
        self.answering = False

    def answer(self, message: MessageRef, index: int) -> None:
        self.answering = True
        if message.tool_result_ids:
            self.place = index
            for call in message.tool_result_ids.split():
                self.calls.pop(call, None)

    def end(self, missing: dict[int, list[str]]) -> None:
        if self.calls:
            missing[self.place] = list(self.calls)
        self.calls = {}
        self.answering = False


def _missing_result(call: str, estimator: Estimator) -> MessageRef:
    result = {"type": "tool_result", "tool_use_id": call, "content": NO_RESULT, "is_error": True}
    part = synthetic_part(f"result:{call}")
    made = MadeMessage(part, "missing result", f"call {call}", [result])
    return made_message("user", made, estimator)
