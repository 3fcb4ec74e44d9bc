"""What a request costs, part by part: the one place where a request's tokens are added up."""

from __future__ import annotations

import msgspec

from app.domain.messages import MessageRef
from app.domain.ports import Estimator
from app.domain.requests import ModelRequest


class Counted(msgspec.Struct, frozen=True):
    """The tokens of a request by group; `total` is their sum with the framing."""

    system: int
    tools: int
    messages: int
    framing: int

    @property
    def total(self) -> int:
        """What the whole request costs."""
        return self.system + self.tools + self.messages + self.framing


def count(request: ModelRequest, estimator: Estimator) -> Counted:
    """Add up a request. Stored counts are summed, never made again."""
    return Counted(
        system=sum(estimator.system_block(block.text).tokens for block in request.system),
        tools=sum(estimator.tool(tool.definition).tokens for tool in request.tools),
        messages=tokens_of(request.messages),
        framing=estimator.framing(
            request.model, has_tools=bool(request.tools), tool_choice=request.tool_choice
        ),
    )


def tokens_of(messages: list[MessageRef]) -> int:
    """The sum of the counts of these messages, each of which must be counted."""
    return sum([message.tokens or 0 for message in messages])
