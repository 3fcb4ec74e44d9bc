"""Providers without a server, for tests of what calls them: one that must not, one that is told.

What leaves hango is tested against `tests.fakes.strict_provider`, which refuses what is wrong;
these take anything.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, NoReturn

from app.domain.responses import Response, Usage
from app.provider.base import Cancelled, OnEvent, never, unheard
from app.provider.call import Call
from app.provider.failures import ProviderFailure
from app.provider.stream import Assembly
from tests.fakes.strict_provider.events import events_of
from tests.fakes.strict_provider.replies import Reply

Body = Mapping[str, Any]


class ExplodingProvider:
    """Any use of it fails the test: for what promises to call nobody."""

    name = "exploding"

    def prepare(self) -> NoReturn:
        raise AssertionError("a provider was prepared")

    def complete(self, body: Body, **_bounds: object) -> NoReturn:
        raise AssertionError("a provider was called")

    def count_tokens(self, body: Body, **_bounds: object) -> NoReturn:
        raise AssertionError("a provider was asked to count")

    def close(self) -> None: ...


class ScriptedProvider:
    """Answers with what it was given, in order, and keeps the bodies that it was sent."""

    name = "scripted"

    def __init__(self, *script: Reply | ProviderFailure) -> None:
        self.script = deque(script)
        self.sent: list[Body] = []

    def prepare(self) -> None: ...

    def complete(
        self,
        body: Body,
        *,
        deadline: float,
        on_event: OnEvent = unheard,
        cancelled: Cancelled = never,
    ) -> Response:
        """The next of the script, streamed to `on_event` as a provider would."""
        self.sent.append(body)
        call, assembly = Call(deadline, cancelled), Assembly()
        for event in events_of(self._next(body)):
            call.patience()
            assembly.feed(event)
            on_event(event)
        return Response(
            id=assembly.id,
            request_id=f"req_{len(self.sent)}",
            model=assembly.model,
            blocks=assembly.blocks(),
            stop_reason=assembly.stop_reason or "",
            usage=assembly.usage or Usage(),
        )

    def close(self) -> None: ...

    def _next(self, body: Body) -> dict[str, Any]:
        reply = self.script.popleft()
        if isinstance(reply, ProviderFailure):
            raise reply
        number = len(self.sent)
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [
                {**block, "id": block["id"] or f"toolu_{number}_{place}"}
                if block["type"] == "tool_use"
                else block
                for place, block in enumerate(reply.blocks)
            ],
            "stop_reason": reply.reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 10, **reply.usage},
        }
