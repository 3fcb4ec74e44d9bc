"""The estimator: what each part of a request costs, without asking the provider.

Figures are whole numbers and additive: a request is the sum of its parts plus its framing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from app.domain.catalogue import facts_for
from app.domain.messages import Block
from app.domain.ports import Count
from app.tokens.calibration import METHOD, Calibration, calibration_for, calibrations
from app.tokens.recent import Recent
from app.tokens.rendering import Rendering, json_text
from app.tokens.weighing import TextWeigher

_RECENT_PARTS = 4096


def estimator_for(model: str) -> ClassEstimator:
    """The estimator of the model's tokenizer family; loads no ranks before the first text."""
    return _estimator(calibration_for(model).name)


@cache
def _estimator(name: str) -> ClassEstimator:
    shipped = calibrations()
    return ClassEstimator(shipped.families[name], shipped.version)


class ClassEstimator:
    """Counts by weighted classes of cl100k tokens. Satisfies `app.domain.ports.Estimator`."""

    def __init__(self, calibration: Calibration, version: int) -> None:
        self.id = f"{METHOD}/{version}:{calibration.name}"
        self._calibration = calibration
        self._tier = calibration.image_tier
        self._texts = TextWeigher(calibration)
        self._system_blocks: Recent[Count] = Recent(_RECENT_PARTS)
        self._tools: Recent[Count] = Recent(_RECENT_PARTS)

    def system_block(self, text: str) -> Count:
        """What a system block of this text costs. Blocks counted lately are remembered."""
        return self._system_blocks.get(text, self._count_text)

    def tool(self, definition: Mapping[str, Any]) -> Count:
        """What this tool definition costs, without what the first tool adds once.

        Rough for the provider's own tools, whose definitions nobody sees. A definition that is
        loaded only when a search finds it costs nothing until then.
        """
        # A cache mark is no part of what the model reads.
        read = {key: value for key, value in definition.items() if key != "cache_control"}
        return self._tools.get(json_text(read), lambda _: self._count_tool(read))

    def message(self, role: str, blocks: Sequence[Block]) -> Count:  # noqa: ARG002 - the port
        """What this message costs, its share of the framing included."""
        rendering = Rendering(self._tier)
        rendering.overheads["message"] += 1
        rendering.blocks(blocks)
        return self._count(rendering)

    def framing(self, model: str, *, has_tools: bool, tool_choice: Mapping[str, Any] | None) -> int:
        """What a request costs beside its parts: its frame, and the provider's tool prompt."""
        frame = round(self._calibration.overheads["request"])
        if not has_tools:
            return frame
        prompt = facts_for(model).tool_prompt
        forced = isinstance(tool_choice, Mapping) and tool_choice.get("type") in ("any", "tool")
        return frame + (prompt.any if forced else prompt.auto)

    def request(self, body: Mapping[str, Any]) -> int:
        """What a whole request body of the Messages API costs."""
        system, tools = body.get("system") or [], body.get("tools") or []
        texts = [system] if isinstance(system, str) else [block["text"] for block in system]
        counts = [
            *(self.system_block(text) for text in texts),
            *(self.tool(tool) for tool in tools),
            *(self.message(each["role"], _blocks(each["content"])) for each in body["messages"]),
        ]
        return sum(count.tokens for count in counts) + self.framing(
            body["model"], has_tools=bool(tools), tool_choice=body.get("tool_choice")
        )

    def _count_text(self, text: str) -> Count:
        rendering = Rendering(self._tier)
        rendering.texts.append(text)
        return self._count(rendering)

    def _count_tool(self, definition: Mapping[str, Any]) -> Count:
        kind = definition.get("type")
        if isinstance(kind, str) and kind != "custom":
            return Count(self._provider_tool_tokens(kind, definition), rough=True)
        if definition.get("defer_loading") is True:
            return Count(0, rough=True)
        rendering = Rendering(self._tier)
        rendering.tool(definition)
        return self._count(rendering)

    def _provider_tool_tokens(self, kind: str, definition: Mapping[str, Any]) -> int:
        for prefix, tokens in self._calibration.provider_tools.items():
            if kind.startswith(prefix):
                return round(tokens)
        return self._count_text(json_text(definition)).tokens

    def _count(self, rendering: Rendering) -> Count:
        tokens, rough = float(rendering.tokens), rendering.rough
        for text in rendering.texts:
            weight, guessed = self._texts.weigh(text)
            tokens, rough = tokens + weight, rough or guessed
        costs = self._calibration.overheads
        tokens += sum(costs[name] * times for name, times in rendering.overheads.items())
        return Count(int(tokens + 0.5), rough)


def _blocks(content: str | Sequence[Block]) -> Sequence[Block]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
