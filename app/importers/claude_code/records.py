"""Lines of a Claude Code session file as records with the fields that order them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from app.importers.anthropic_request import blocks_in
from app.importers.shapes import dict_of, dicts_of, text_of

COMPACT_BOUNDARY = "compact_boundary"
KNOWN_TYPES = frozenset(
    (
        *("user", "assistant", "system", "summary", "attachment", "progress", "queue-operation"),
        *("file-history-snapshot", "last-prompt", "mode", "permission-mode", "ai-title"),
        *("custom-title", "agent-name", "result", "stream_event"),
    )
)


@dataclass(frozen=True, slots=True)
class Record:
    """One line. `index` is its place among all lines of its session."""

    index: int
    type: str
    raw: dict[str, Any]
    uuid: str | None
    parent: str | None
    session: str | None
    sidechain: bool
    agent: str | None  # the subagent that wrote it
    message: dict[str, Any]  # the API message in it; empty where there is none that can be read
    content: list[Any]  # the blocks of its message

    @property
    def says_something(self) -> bool:
        """Whether it is a turn of the conversation, or a piece of one."""
        return self.type in ("user", "assistant") and bool(self.content)

    @property
    def is_boundary(self) -> bool:
        """Whether a compaction replaced everything before it."""
        return self.type == "system" and self.raw.get("subtype") == COMPACT_BOUNDARY

    @property
    def kind(self) -> str:
        """Its type and subtype, for the report."""
        sub = dict_of(self.raw, "attachment").get("type") or self.raw.get("subtype")
        return f"{self.type}/{sub}" if isinstance(sub, str) else self.type

    def blocks_of(self, kind: str) -> Iterator[dict[str, Any]]:
        """The blocks of one type in its message."""
        return (block for block in dicts_of(self.content) if block.get("type") == kind)


def records_of(lines: Iterable[dict[str, Any]], start: int = 0) -> list[Record]:
    """The records of the lines of one file, numbered from `start`."""
    return [_record(index, line) for index, line in enumerate(lines, start)]


def unique(records: Iterable[Record]) -> list[Record]:
    """Each uuid once: a resumed session copies old records. A broken copy gives way."""
    by_uuid: dict[str, Record] = {}
    for record in records:
        known = by_uuid.get(record.uuid) if record.uuid else None
        if record.uuid and (known is None or record.says_something > known.says_something):
            by_uuid[record.uuid] = record
    chosen = {id(record) for record in by_uuid.values()}
    return [record for record in records if record.uuid is None or id(record) in chosen]


def is_claude_code(line: dict[str, Any]) -> bool:
    """Whether the line can only come from a session file of Claude Code."""
    if line.get("type") == "summary":
        return "leafUuid" in line
    ours = "sessionId" in line or "parentUuid" in line
    return ours and isinstance(line.get("type"), str)


def is_stream_json(line: dict[str, Any]) -> bool:
    """Whether the line comes from `--output-format stream-json`."""
    kinds = ("system", "assistant", "user", "result", "stream_event")
    return line.get("type") in kinds and "session_id" in line and "sessionId" not in line


def _record(index: int, line: dict[str, Any]) -> Record:
    agent = text_of(line.get("agentId")) or text_of(line.get("parent_tool_use_id"))
    message = dict_of(line, "message")
    return Record(
        index=index,
        type=text_of(line.get("type")) or "without type",
        raw=line,
        uuid=text_of(line.get("uuid")),
        parent=text_of(line.get("parentUuid")),
        session=text_of(line.get("sessionId")) or text_of(line.get("session_id")),
        sidechain=line.get("isSidechain") is True or bool(text_of(line.get("parent_tool_use_id"))),
        agent=agent,
        message=message,
        content=blocks_in(message.get("content")),
    )
