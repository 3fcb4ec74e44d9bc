"""How much one answer of a built-in tool may hold, so that it is never cut behind its back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.domain.ports import Estimator

_BYTES_PER_TOKEN = 4  # where the search for what fits begins


@dataclass(frozen=True, slots=True)
class Answers:
    """The size of answers: at most `tool_output` tokens, what the guard lets one result hold."""

    tool_output: int
    estimator: Estimator

    @property
    def limit(self) -> int:
        """Some room is left for what stands around the answer."""
        return self.tool_output - min(512, self.tool_output // 4)

    def fitted(self, build: Callable[[int], str]) -> str:
        """What `build` makes of the room that it is given, in UTF-8 bytes, so that it fits.

        The smallest answer that `build` can make is taken whatever it costs.
        """
        room = self.limit * _BYTES_PER_TOKEN
        answer = build(room)
        while room and (cost := self._cost(answer)) > self.limit:
            room = min(room - 1, room * self.limit // cost)
            answer = build(room)
        return answer

    def _cost(self, answer: str) -> int:
        result = {"type": "tool_result", "tool_use_id": "", "content": answer}
        return self.estimator.message("user", [result]).tokens
