"""Messages as the chain sees them: light references whose content is loaded only when needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Protocol

import msgspec

from app.domain.blocks import index_blocks
from app.domain.jsontext import dumps
from app.domain.parts import PartId, message_part
from app.domain.previews import preview
from app.domain.text import clean_json

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
    marks: str  # blank-separated, sorted: see `BlockIndex`; `rough` where `tokens` is a guess

    # Only for messages that are not rows: the summary and synthetic messages.
    made: MadeMessage | None = None
    thinking_dropped: bool = False  # its thinking is left out of this request

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


class Counted(Protocol):
    """How many tokens, and whether that is a guess."""

    @property
    def tokens(self) -> int: ...

    @property
    def rough(self) -> bool: ...


class MessageCounter(Protocol):
    """The side of an estimator that counts messages."""

    id: str

    def message(self, role: str, blocks: Sequence[Block]) -> Counted:
        """What this message costs, its share of the framing included."""


def message_sha256(role: str, content: str) -> str:
    """The hash that identifies a message's content, in hex; `content` is its stored JSON."""
    return sha256(f"{role}\n{content}".encode()).hexdigest()


def prepare(
    role: str,
    content: str | Sequence[Block],
    estimator: MessageCounter,
    names: Mapping[str, str] | None = None,
) -> NewMessage:
    """Make a message ready to be stored: clean it, and measure once what inspect will need.

    A text becomes one text block. Blocks of unknown types are kept as they are. `names` tells
    the tool that each earlier call's id was for. Checks nothing: see `app.domain.validity`.
    """
    given = [{"type": "text", "text": content}] if isinstance(content, str) else content
    blocks, text = _cleaned(given)
    index = index_blocks(role, blocks)
    count = estimator.message(role, blocks)
    return NewMessage(
        role=role,
        content=text,
        tokens=count.tokens,
        counted_by=estimator.id,
        preview=preview(role, blocks, names or {}),
        sha256=message_sha256(role, text),
        tool_use_ids=index.tool_use_ids,
        tool_result_ids=index.tool_result_ids,
        marks=_with_rough(index.marks) if count.rough else index.marks,
    )


def _cleaned(blocks: Sequence[Block]) -> tuple[Sequence[Block], str]:
    """The blocks as they are stored, and their JSON. Looks closer only where it has to."""
    try:
        text = dumps(blocks)
    except UnicodeEncodeError:  # a lone surrogate
        pass
    else:
        if "\\u0000" not in text:
            return blocks, text
    cleaned = clean_json(list(blocks))
    return cleaned, dumps(cleaned)


def _with_rough(marks: str) -> str:
    return " ".join(sorted({*marks.split(), "rough"}))
