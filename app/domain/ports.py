"""What hango asks of the outside, one Protocol each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol
from uuid import UUID

import msgspec

from app.domain.agents import Subagent
from app.domain.messages import Block, MessageRef
from app.domain.outside import OutsideTool
from app.domain.tools import ToolCall, ToolOutcome


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

    def outside(self, names: Sequence[str]) -> Sequence[OutsideTool]:
        """The tenant's tools from outside that these names mean, in their order."""


class ContentReader(Protocol):
    """Loads what a MessageRef leaves out."""

    def contents(self, session_id: UUID, seqs: Iterable[int]) -> Mapping[int, str]:
        """The compact JSON of the blocks of these messages, by seq."""


class History(msgspec.Struct, frozen=True):
    """The messages that the next request starts from."""

    checkpoint: Checkpoint | None
    messages: list[MessageRef]  # those after the checkpoint, by seq


class FileSize(msgspec.Struct, frozen=True):
    """A file that a tool can reach, without its content."""

    path: str
    size_bytes: int


class Workspace(Protocol):
    """What the built-in tools of one session work on.

    Files: the session's own, and under /memories/ those of its agent. Paths come checked, texts
    cleaned. Each operation is short, takes place as a whole or not at all, and leaves nothing
    open; several may be asked for at the same time.
    """

    def files(self) -> Sequence[FileSize]:
        """Every file, by path."""

    def read(self, paths: Collection[str]) -> Mapping[str, str]:
        """The contents of those files that are there, by path."""

    def write(self, path: str, content: str) -> bool:
        """Make `content` the whole file. Whether there was one before.

        Raises:
            MemoryReadOnly: it is a memory file of an agent that is not the principal's to change.
            NoRoom
        """

    def edit(self, path: str, change: Callable[[str], str]) -> None:
        """Make what `change` makes of a file's content its content; nobody writes in between.

        Raises:
            NoSuchFile
            MemoryReadOnly
            NoRoom
        """

    def replace_todos(self, items: Sequence[Todo]) -> Sequence[Todo]:
        """Make `items` the session's whole todo list, and answer with the list as it stands."""


class Delegate(Protocol):
    """Runs named subagents, each in a child session of its own."""

    depth: int  # how many sessions stand above the one that asks; 0: it is nobody's child

    def run(self, helper: Subagent, prompt: str, call: ToolCall) -> ToolOutcome:
        """Have `helper` answer `prompt`; its final message is what the call comes to."""


class Outside(Protocol):
    """Calls servers outside, in the name of the tenant that has registered them."""

    def call(self, tool: OutsideTool, call: ToolCall) -> ToolOutcome:
        """What the call comes to; its text is bounded, but may be longer than a model should get.

        Raises:
            Failure: the server was not called, or has given no answer that can be used.
        """
