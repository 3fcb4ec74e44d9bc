"""Messages as the chain sees them: light references whose content is loaded only when needed."""

from __future__ import annotations

from typing import Any

import msgspec

from app.domain.parts import PartId, message_part

Block = dict[str, Any]  # one content block of the Anthropic Messages API, in its own key order


class MessageRef(msgspec.Struct, gc=False):
    """A message of a request, without its content.

    The fields are in the order of the columns that the store selects, so that a reference is
    made by `MessageRef(*row)`.
    """

    seq: int  # counted from 1; 0 for a message that nothing persists
    role: str  # "user", "assistant" or, in the middle of a conversation, "system"
    tokens: int | None  # by the estimator of the session's model; None: not counted by it yet
    preview: str
    sha256: str  # hex, of `message_sha256`
    tool_use_ids: str  # blank-separated, in the order of the blocks
    tool_result_ids: str  # blank-separated
    marks: str  # blank-separated, sorted: thinking image document rough unknown server_tool …

    # Only for messages that are not rows: the summary and synthetic messages.
    made: MadeMessage | None = None

    @property
    def part(self) -> PartId:
        """The id of the part that this message is."""
        return self.made.part if self.made else message_part(self.seq)


class MadeMessage(msgspec.Struct, frozen=True):
    """What a message that is not a row says: its part id and its blocks."""

    part: PartId
    label: str
    origin: str
    blocks: list[Block]


class NewMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message ready to be stored: checked, cleaned, and measured once.

    `content` is the compact JSON of its blocks, byte for byte what a request will carry.
    """

    role: str
    content: str
    tokens: int
    counted_by: str  # the estimator's id
    preview: str
    sha256: str
    tool_use_ids: str
    tool_result_ids: str
    marks: str


class StoredMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A persisted message with its content, as clients read it."""

    seq: int
    role: str
    content: str  # compact JSON of its blocks
    tokens: int | None
    preview: str
    sha256: str
    created_at: str  # RFC 3339, UTC
