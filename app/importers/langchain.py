"""Lists of serialised LangChain messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.importers import traces
from app.importers.dialects import chat_message
from app.importers.documents import Document
from app.importers.draft import Draft
from app.importers.report import Tally
from app.importers.shapes import dict_of, list_of, text_of

_TYPES = ("human", "ai", "system", "tool", "function", "remove")


def is_list(document: Document) -> bool:
    """Whether it is a list of messages of LangChain, or an object that holds one."""
    messages = _messages(document.value)
    return bool(messages) and all(_is_message(message) for message in messages)


def drafts(documents: Sequence[Document]) -> list[Draft]:
    """One conversation for each list."""
    return [_draft(_messages(document.value)) for document in documents]


def _draft(messages: list[Any]) -> Draft:
    tally = Tally()
    chat = [found for message in messages if (found := chat_message(message)) is not None]
    tally.drop("message_not_readable", len(messages) - len(chat))
    model = next((name for message in reversed(chat) if (name := _model(message))), None)
    tally.model(model)
    draft = traces.draft_of("langchain-messages", chat, [], model, tally)
    draft.last_record_id = text_of(chat[-1].get("id")) if chat else None
    return draft


def _messages(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = value.get("messages")
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]  # a batch of one
    return list_of(value)


def _is_message(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if value.get("lc") and value.get("type") == "constructor":
        return True
    return text_of(value.get("type")) in _TYPES and ("content" in value or "data" in value)


def _model(message: dict[str, Any]) -> str | None:
    meta = dict_of(message, "response_metadata")
    return text_of(meta.get("model_name")) or text_of(meta.get("model"))
