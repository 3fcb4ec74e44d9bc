"""Records of a branch to turns: pieces of an answer grouped, summaries and errors told apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.domain.jsontext import dumps
from app.importers.anthropic_request import usage_of
from app.importers.claude_code.records import Record
from app.importers.claude_code.reminders import reminder
from app.importers.draft import Turn
from app.importers.models import is_claude
from app.importers.report import Tally
from app.importers.shapes import text_of

_CONTINUED = "This session is being continued from a previous conversation"


@dataclass(slots=True)
class Conversation:
    """The turns of one chain, and the summary that its last compaction left."""

    turns: list[Turn] = field(default_factory=list)
    summary: str | None = None
    model: str | None = None


def conversation(records: Sequence[Record], tally: Tally) -> Conversation:
    """What the records say, in order. Turns before the last compaction are marked as such."""
    cut = max((at for at, record in enumerate(records) if record.is_boundary), default=-1)
    summary_at = _summary_at(records, cut)
    found = Conversation()
    if summary_at is not None:
        found.summary = "\n".join(_texts(records[summary_at]))
    reader = _Reader(found, tally)
    for at, record in enumerate(records):
        if at != summary_at:
            reader.read(record, compacted=summary_at is not None and at < cut)
    if found.summary is not None and not any(turn.compacted for turn in found.turns):
        tally.repair("summary_made_message")  # what it stands for is not in the file
        first: dict[str, Any] = {"type": "text", "text": found.summary}
        found.turns.insert(0, Turn(role="user", blocks=[first]))
        found.summary = None
    return found


def _summary_at(records: Sequence[Record], cut: int) -> int | None:
    """Where the summary of the last compaction stands, behind its boundary."""
    if cut < 0:
        return None
    for at in range(cut, len(records)):
        record = records[at]
        marked = record.raw.get("isCompactSummary") or _continues(record)
        if record.type == "user" and marked and "".join(_texts(record)).strip():
            return at
    return None


def _continues(record: Record) -> bool:
    return any(text.startswith(_CONTINUED) for text in _texts(record))


def _texts(record: Record) -> list[str]:
    texts = (block.get("text") for block in record.blocks_of("text"))
    return [text for text in texts if isinstance(text, str)]


class _Reader:
    """Adds record after record; remembers which answers are still open for further pieces."""

    def __init__(self, found: Conversation, tally: Tally) -> None:
        self._found = found
        self._tally = tally
        self._open: dict[tuple[str | None, str | None], _Answer] = {}

    def read(self, record: Record, *, compacted: bool) -> None:
        """Add what one record says."""
        if record.type == "assistant":
            self._assistant(record, compacted)
        elif record.type == "user":
            self._user(record, compacted)
        elif record.type == "attachment":
            text = reminder(record.raw.get("attachment"), self._tally)
            if text:
                self._add(Turn(role="user", blocks=[{"type": "text", "text": text}]), compacted)

    def _user(self, record: Record, compacted: bool) -> None:
        if not record.content:
            self._tally.drop("record_without_content")
            return
        if record.raw.get("isMeta"):
            self._tally.keep("text_added_by_claude_code")
        if record.raw.get("isCompactSummary"):
            self._tally.keep("summary_of_an_earlier_compaction")
        if not any(record.blocks_of("tool_result")):
            self._open.clear()
        self._add(Turn(role="user", blocks=list(record.content)), compacted)

    def _assistant(self, record: Record, compacted: bool) -> None:
        model = text_of(record.message.get("model"))
        if record.raw.get("isApiErrorMessage") or model == "<synthetic>":
            self._tally.drop("error_shown_as_answer")
            return
        if not record.content:
            self._tally.drop("record_without_content")
            return
        key = (text_of(record.message.get("id")), text_of(record.raw.get("requestId")))
        answer = self._open.get(key) if any(key) else None
        if answer is None:
            turn = Turn(
                role="assistant", blocks=[], foreign=model is not None and not is_claude(model)
            )
            answer = _Answer(turn)
            self._open[key] = answer
            self._add(turn, compacted)
            self._tally.model(model)
            self._found.model = model or self._found.model
        else:
            self._tally.repair("records_joined_to_messages")
        answer.add(record, self._tally)

    def _add(self, turn: Turn, compacted: bool) -> None:
        turn.compacted = compacted
        self._found.turns.append(turn)


@dataclass(slots=True)
class _Answer:
    """One answer of the model, of which each record holds a piece."""

    turn: Turn
    seen: set[str] = field(default_factory=set)

    def add(self, record: Record, tally: Tally) -> None:
        """Add a piece; usage and stop reason of the last piece count."""
        self.turn.blocks += self._new(record.content, tally)
        usage = usage_of(
            record.message.get("usage"),
            record.message.get("model"),
            call_id=record.raw.get("requestId") or record.message.get("id"),
            at=record.raw.get("timestamp"),
            finished=record.message.get("stop_reason") is not None,
        )
        if usage:
            self.turn.usage = [usage]

    def _new(self, blocks: Iterable[Any], tally: Tally) -> list[Any]:
        new = []
        for block in blocks:
            text = dumps(block)
            if text in self.seen:
                tally.drop("block_recorded_twice")
            else:
                new.append(block)
            self.seen.add(text)
        return new
