"""What hango asks of the outside, one Protocol each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol
from uuid import UUID

import msgspec

from app.domain.messages import Block, MessageRef


class Count(msgspec.Struct, frozen=True):
    """An estimate. `rough` where it is a bound or a guess rather than a count of text."""

    tokens: int
    rough: bool = False


class Estimator(Protocol):
    """Counts for one tokenizer family. Additive: a request is its parts plus `framing`.

    Never raises on any input, and is linear in its size.
    """

    id: str  # names the method, its version and the family: "cl100k-classes/1:claude-4.7"

    def system_block(self, text: str) -> Count:
        """What a system block of this text costs."""

    def tool(self, definition: Mapping[str, Any]) -> Count:
        """What this tool definition costs, without what the first tool adds once."""

    def message(self, role: str, blocks: Sequence[Block]) -> Count:
        """What this message costs, its share of the framing included."""

    def framing(self, model: str, *, has_tools: bool, tool_choice: Mapping[str, Any] | None) -> int:
        """What a request costs beside its parts: its frame, and the provider's tool prompt."""


class MemoryFile(msgspec.Struct, frozen=True):
    """One memory file of an agent."""

    path: str  # "/memories/AGENTS.md"
    content: str
    version: int
    sha256: str


class Skill(msgspec.Struct, frozen=True):
    """One skill of an agent, as its index shows it, and its body."""

    name: str
    description: str
    body: str
    allowed_tools: tuple[str, ...] | None
    version: int


class Todo(msgspec.Struct, frozen=True):
    """One line of a session's todo list."""

    content: str
    status: str  # pending, in_progress, completed


class Checkpoint(msgspec.Struct, frozen=True):
    """The stored outcome of a compaction: later requests start here."""

    covers_seq: int  # messages up to and including this one are replaced by the summary
    summary: MessageRef  # with `made`


class Sources(Protocol):
    """What `before_run` hooks read, scoped to one principal. Reads only."""

    def memory(self, agent_id: UUID) -> Sequence[MemoryFile]:
        """The agent's memory files, by path."""

    def skills(self, agent_id: UUID) -> Sequence[Skill]:
        """The agent's skills, by name."""

    def todos(self, session_id: UUID) -> Sequence[Todo]:
        """The session's todo list, in order."""


class ContentReader(Protocol):
    """Loads what a MessageRef leaves out."""

    def contents(self, session_id: UUID, seqs: Iterable[int]) -> Mapping[int, str]:
        """The compact JSON of the blocks of these messages, by seq."""


class History(msgspec.Struct, frozen=True):
    """The messages that the next request starts from."""

    checkpoint: Checkpoint | None
    messages: list[MessageRef]  # those after the checkpoint, by seq
