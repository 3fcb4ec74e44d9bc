"""Tools from outside: what of the tenant's HTTP tools and MCP servers the agent names."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.chain.handlers.answers import Answers
from app.chain.middleware import Middleware
from app.chain.middlewares.guard import budget_of
from app.domain.messages import Block
from app.domain.outside import OutsideTool, missing
from app.domain.parts import tool_part
from app.domain.ports import Estimator, Outside, Sources
from app.domain.requests import RunState, Tool
from app.domain.tools import ToolCall, ToolHandler, ToolOutcome

CONTRIBUTOR = "outside"
CUT = "\n\n[This is the beginning: the rest is left out, since the answer is too long.]"


class OutsideInUse(msgspec.Struct, frozen=True):
    """What a run has of them."""

    tools: tuple[OutsideTool, ...] = ()
    missing: tuple[str, ...] = ()  # names that nothing registered answers to, or no longer


NONE_IN_USE = OutsideInUse()


class OutsideTools(Middleware):
    """Contributes the definitions that are registered. Assembling a request contacts nobody."""

    def __init__(
        self, sources: Sources, estimator: Estimator, outside: Outside | None = None
    ) -> None:
        self._sources = sources
        self._estimator = estimator
        self._outside = outside

    def before_run(self, state: RunState) -> None:
        names = state.agent.outside_names
        if not names:
            return
        found = tuple(self._sources.outside(names))
        state.put(OutsideInUse(found, tuple(missing(names, found))))

    def tools(self, state: RunState) -> Sequence[Tool]:
        in_use = state.find(OutsideInUse) or NONE_IN_USE
        return [
            Tool(
                tool_part(each.name),
                each.name,
                each.definition,
                CONTRIBUTOR,
                each.origin,
                handler=self._handler(each, state),
            )
            for each in in_use.tools
        ]

    def _handler(self, tool: OutsideTool, state: RunState) -> ToolHandler | None:
        outside = self._outside
        if outside is None:
            return None
        answers = Answers(budget_of(state).tool_output, self._estimator)

        def handle(call: ToolCall) -> ToolOutcome:
            outcome = outside.call(tool, call)
            return msgspec.structs.replace(outcome, content=_fitted(outcome.content, answers))

        return handle


def _fitted(content: str | list[Block], answers: Answers) -> str | list[Block]:
    """The content with its texts cut to what one result may hold."""
    if isinstance(content, str):
        return answers.fitted(lambda room: _cut(content, room))
    texts = [block for block in content if block.get("type") == "text"]
    joined = "\n\n".join(str(block["text"]) for block in texts)
    fitted = answers.fitted(lambda room: _cut(joined, room))
    if fitted == joined:
        return content
    others = [block for block in content if block.get("type") != "text"]
    return [{"type": "text", "text": fitted}, *others]


def _cut(text: str, room: int) -> str:
    data = text.encode()
    if len(data) <= room:
        return text
    return data[: max(0, room - len(CUT))].decode(errors="ignore") + CUT
