"""What a model's answer means for its run: what is stored, what is carried out, and whether it
goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.blocks import THINKING
from app.domain.messages import Block
from app.domain.responses import Response
from app.domain.tools import ToolCall

# Messages API, stop reasons: the turn goes on with results, or by sending it back as it is.
TOOL_USE, PAUSE = "tool_use", "pause_turn"

NOT_CARRIED_OUT = "This call was not carried out: the answer was cut off before it ended."


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, ready to be acted on."""

    blocks: Sequence[Block]  # to be stored; none when nothing of it could ever be sent back
    calls: Sequence[ToolCall]  # to be carried out
    refused: Sequence[Block]  # results for calls that must not be carried out
    stop_reason: str
    goes_on: bool
    left_out: int  # blocks of thinking that the provider did not take back


def read(response: Response) -> Answer:
    """Make sense of an answer.

    Calls are carried out only where the model stopped for them: what was cut off by a limit, or
    refused, may lack half of its input.
    """
    blocks = _storable(response.blocks)
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    wanted = response.stop_reason == TOOL_USE
    cut = set(response.cut_calls)
    good = [block for block in calls if wanted and block["id"] not in cut]
    return Answer(
        blocks=blocks,
        calls=[_call(block) for block in good],
        refused=[_refusal(block) for block in calls if block not in good],
        stop_reason=response.stop_reason,
        goes_on=bool(blocks) and ((wanted and bool(calls)) or response.stop_reason == PAUSE),
        left_out=len(response.input_transformations),
    )


def _storable(blocks: Sequence[Block]) -> list[Block]:
    """Without thinking at its end, which nothing may follow, and without empty texts.

    Messages API, extended thinking: a turn that another one follows does not end on thinking.
    """
    kept = [block for block in blocks if block.get("type") != "text" or block.get("text")]
    while kept and kept[-1].get("type") in THINKING:
        kept.pop()
    return kept


def _call(block: Block) -> ToolCall:
    given = block.get("input")
    return ToolCall(block["id"], str(block.get("name")), given if isinstance(given, dict) else {})


def _refusal(block: Block) -> Block:
    return {
        "type": "tool_result",
        "tool_use_id": block["id"],
        "content": NOT_CARRIED_OUT,
        "is_error": True,
    }
