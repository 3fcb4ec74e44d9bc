"""What goes into an import and what comes out: files in, sessions that could be sent out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from app.domain.messages import Block

Format = Literal[
    "claude-code",
    "claude-code-stream-json",
    "anthropic-request",
    "openai-chat",
    "openai-responses",
    "gateway-capture",
    "litellm",
    "swe-agent",
    "langfuse",
    "langsmith",
    "langchain-messages",
    "chatgpt-export",
    "claude-ai-export",
    "inspect-ai",
]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file as it was handed in. `name` is for people; nothing is recognised by it."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ImportedMessage:
    """One message of a valid history: results of a turn stand first, and none is missing."""

    role: str  # user, assistant, system
    blocks: list[Block]


@dataclass(frozen=True, slots=True)
class ImportedSummary:
    """A compaction that the source had made: the next request starts at this text."""

    text: str
    covers: int  # the first so many messages are behind the summary; at least 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedUsage:
    """What the source recorded for one model call.

    As in Anthropic's usage, `input_tokens` has no cached tokens in it: the whole input is the sum
    of the three. None where the source does not say.
    """

    model: str
    message: int | None = None  # index of the assistant message that the call gave
    call_id: str | None = None  # the provider's id of the request, or of the answer
    at: str | None = None  # when, as the source wrote it
    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None
    claude: bool = True  # False: another provider's tokenizer counted

    @property
    def input_total(self) -> int | None:
        """The whole input of the call, or None where nothing is known."""
        counts = (
            self.input_tokens,
            self.cache_creation_input_tokens,
            self.cache_read_input_tokens,
        )
        known = [count for count in counts if count is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class ParentLink:
    """Which call of which other session this one, a subagent's, answers."""

    source_session_id: str | None
    tool_use_id: str | None  # as it stands in the parent's messages; None: not found
    agent_id: str | None  # the source's name of the subagent


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """One conversation, repaired: feeding its messages to a history check gives no fault.

    The end may be open: a last message may be the assistant's, with calls that nobody answered
    only where a provider would take that (server tools).
    """

    format: Format
    title: str  # one line, at most 200 characters
    model: str | None  # without a proxy's prefix; None: the source does not say
    messages: list[ImportedMessage]
    fingerprint: str  # hex sha256 over format, source session, last record and content
    content_hash: str  # hex sha256 of what will be sent: system, tools, messages
    report: Mapping[str, Any]  # JSON: numbers, names of kinds, ids of models; no content
    system_blocks: list[str] = field(default_factory=list)
    tools: list[dict[str, Any]] = field(default_factory=list)
    tool_choice: Mapping[str, Any] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)  # stop_sequences, thinking …
    max_tokens: int | None = None
    summary: ImportedSummary | None = None
    usage: Sequence[ImportedUsage] = ()
    source_session_id: str | None = None  # equal for a file and its grown copy
    last_record_id: str | None = None
    parent: ParentLink | None = None
