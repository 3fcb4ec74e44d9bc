"""Messages that the chain makes for one request, and that nothing persists."""

from __future__ import annotations

from app.domain.blocks import index_blocks
from app.domain.jsontext import dumps
from app.domain.messages import MadeMessage, MessageRef, message_sha256
from app.domain.ports import Estimator
from app.domain.previews import preview


def made_message(role: str, made: MadeMessage, estimator: Estimator) -> MessageRef:
    """A message that is not a row: counted, previewed and hashed like every other."""
    index = index_blocks(role, made.blocks)
    return MessageRef(
        seq=0,
        role=role,
        tokens=estimator.message(role, made.blocks).tokens,
        preview=preview(role, made.blocks),
        sha256=message_sha256(role, dumps(made.blocks)),
        tool_use_ids=index.tool_use_ids,
        tool_result_ids=index.tool_result_ids,
        marks=index.marks,
        made=made,
    )
