"""The data export of claude.ai: conversations with their visible branch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.domain.messages import Block
from app.importers.documents import Document
from app.importers.draft import Draft, Turn
from app.importers.parts import blocks_of
from app.importers.report import Tally
from app.importers.shapes import dicts_of, text_of

_Message = dict[str, Any]


def is_export(document: Document) -> bool:
    """Whether it holds conversations with messages of humans and the assistant."""
    return bool(_conversations(document))


def drafts(documents: Sequence[Document]) -> list[Draft]:
    """One for each conversation."""
    return [_draft(each) for document in documents for each in _conversations(document)]


def _conversations(document: Document) -> list[dict[str, Any]]:
    found = [
        each
        for record in document.records
        for each in (record["conversations"] if _is_bundle(record) else [record])
    ]
    return [e for e in found if isinstance(e, dict) and isinstance(e.get("chat_messages"), list)]


def _is_bundle(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("conversations"), list)


def _draft(conversation: Mapping[str, Any]) -> Draft:
    tally = Tally()
    messages = dicts_of(conversation["chat_messages"])
    for message in messages:
        tally.message(message.get("sender"))
    branch = _branch(messages)
    tally.facts["branch"] = {"messages_on_other_branches": len(messages) - len(branch)}
    name, session = conversation.get("name"), conversation.get("uuid")
    return Draft(
        format="claude-ai-export",
        turns=[turn for message in branch for turn in _turns(message, tally)],
        tally=tally,
        title=text_of(name) or "",
        source_session_id=text_of(session),
        last_record_id=text_of(branch[-1].get("uuid")) if branch else None,
        has_definitions=False,
    )


def _branch(messages: list[_Message]) -> list[_Message]:
    """The messages from the last one up along its parents; in older exports, all."""
    by_uuid = {uuid: each for each in messages if (uuid := text_of(each.get("uuid")))}
    if not any(text_of(each.get("parent_message_uuid")) in by_uuid for each in messages):
        return messages
    branch: list[_Message] = []
    at: _Message | None = messages[-1]
    while at is not None and len(branch) < len(messages):
        branch.append(at)
        at = by_uuid.get(text_of(at.get("parent_message_uuid")) or "")
    return branch[::-1]


def _turns(message: _Message, tally: Tally) -> Iterator[Turn]:
    """The message; one of the assistant is split where results of its calls stand in it."""
    content = message.get("content") or message.get("text")
    blocks = blocks_of(content, tally)
    if message.get("sender") == "human":
        yield Turn(role="user", blocks=[*_attachments(message, tally), *blocks])
        return
    piece: list[Block] = []
    for block in blocks:
        if block["type"] == "tool_result":
            yield Turn(role="assistant", blocks=piece)
            yield Turn(role="user", blocks=[block])
            piece = []
        else:
            piece.append(block)
    yield Turn(role="assistant", blocks=piece)


def _attachments(message: _Message, tally: Tally) -> Iterator[Block]:
    for each in dicts_of(message.get("attachments")):
        text = each.get("extracted_content")
        if isinstance(text, str) and text.strip():
            source = {"type": "text", "media_type": "text/plain", "data": text}
            yield {"type": "document", "source": source, "title": str(each.get("file_name") or "")}
    tally.drop("file_not_in_the_export", len(dicts_of(message.get("files"))))
