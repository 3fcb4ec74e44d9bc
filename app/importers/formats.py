"""Every format that is recognised, in the order in which a file is tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.importers import (
    anthropic_request,
    captures,
    chatgpt,
    claude_ai,
    inspect_ai,
    langchain,
    langfuse,
    langsmith,
    litellm,
    openai_chat,
    openai_responses,
    swe_agent,
)
from app.importers.claude_code import sessions
from app.importers.documents import Document
from app.importers.draft import Draft
from app.importers.values import Format


@dataclass(frozen=True, slots=True)
class Adapter:
    """One format: how it is told from the others, and how it is read."""

    format: Format
    recognises: Callable[[Document], bool]
    read: Callable[[Sequence[Document]], list[Draft]]


def _streams(documents: Sequence[Document]) -> list[Draft]:
    return sessions.drafts(documents, "claude-code-stream-json")


def _requests(documents: Sequence[Document]) -> list[Draft]:
    bodies = (anthropic_request.unwrapped(line) for d in documents for line in d.records)
    return [anthropic_request.draft_of(b) for b in bodies if anthropic_request.is_request(b)]


def _is_request(document: Document) -> bool:
    bodies = (anthropic_request.unwrapped(line) for line in document.records)
    return any(anthropic_request.is_request(body) for body in bodies)


def _chats(documents: Sequence[Document]) -> list[Draft]:
    return [openai_chat.draft_of(chat) for d in documents for chat in _chats_in(d)]


def _is_chat(document: Document) -> bool:
    return bool(_chats_in(document))


def _chats_in(document: Document) -> list[object]:
    value = document.value if document.value is not None else document.records
    return openai_chat.conversations_in(value)


# What only one program writes comes first; the two shapes of a bare request come last.
ADAPTERS: tuple[Adapter, ...] = (
    Adapter("claude-code", sessions.is_session, sessions.drafts),
    Adapter("claude-code-stream-json", sessions.is_stream, _streams),
    Adapter("gateway-capture", captures.is_capture, captures.drafts),
    Adapter("langfuse", langfuse.is_export, langfuse.drafts),
    Adapter("langsmith", langsmith.is_export, langsmith.drafts),
    Adapter("langchain-messages", langchain.is_list, langchain.drafts),
    Adapter("chatgpt-export", chatgpt.is_export, chatgpt.drafts),
    Adapter("claude-ai-export", claude_ai.is_export, claude_ai.drafts),
    Adapter("inspect-ai", inspect_ai.is_log, inspect_ai.drafts),
    Adapter("swe-agent", swe_agent.is_trajectory, swe_agent.drafts),
    Adapter("litellm", litellm.is_log, litellm.drafts),
    Adapter("openai-responses", openai_responses.is_list, openai_responses.drafts),
    Adapter("anthropic-request", _is_request, _requests),
    Adapter("openai-chat", _is_chat, _chats),
)
