"""A conversation on its way in: what an adapter read, before anything is repaired."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from app.domain.messages import Block
from app.importers.report import Tally
from app.importers.values import Format, ImportedUsage, ParentLink


@dataclass(slots=True, kw_only=True)
class Turn:
    """A message as the source has it: any role, any block, results wherever they stand."""

    role: str  # user, assistant, system
    blocks: list[Block]
    compacted: bool = False  # stands before the last compaction
    foreign: bool = False  # of a model whose thinking no Claude model can read
    usage: list[ImportedUsage] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Draft:
    """What an adapter makes of one conversation; `finish` turns it into an Imported."""

    format: Format
    turns: list[Turn]
    tally: Tally
    title: str = ""
    model: str | None = None
    system: list[str] = field(default_factory=list)
    tools: list[dict[str, Any]] = field(default_factory=list)
    tool_choice: dict[str, Any] | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    max_tokens: int | None = None
    summary: str | None = None  # of the turns marked as compacted
    source_session_id: str | None = None
    last_record_id: str | None = None
    parent: ParentLink | None = None
    has_definitions: bool = True  # False: the format never holds system prompt and tools
