"""Call logs of LiteLLM: its completion log, its standard logging payload, rows of SpendLogs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.errors import ImportRefused
from app.importers import openai_chat
from app.importers.dialects import unquoted
from app.importers.documents import Document
from app.importers.draft import Draft
from app.importers.models import plain_model
from app.importers.report import Tally
from app.importers.shapes import dict_of

_MARKS = ("kwargs", "response_cost", "call_type", "hidden_params", "model_parameters", "spend")


def is_log(document: Document) -> bool:
    """Whether it holds calls as LiteLLM logs them."""
    return any(_is_call(record) for record in document.records)


def drafts(documents: Sequence[Document]) -> list[Draft]:
    """One conversation for each call that has its messages.

    Raises:
        ImportRefused: the log was written without prompts.
    """
    calls = [record for d in documents for record in d.records if _is_call(record)]
    found = [_draft(call) for call in calls if _messages(call)]
    if not found:
        raise ImportRefused("The log has usage only: it was written without storing prompts.")
    found[0].tally.drop("call_without_prompt", len(calls) - len(found))
    return found


def _draft(call: Mapping[str, Any]) -> Draft:
    answer = _object(call.get("response"))
    settings = [_object(call.get(key)) for key in ("kwargs", "model_parameters")]
    fields = {key: value for group in settings for key, value in group.items()}
    body = {**fields, "messages": _messages(call), "choices": answer.get("choices")}
    body |= {"tools": call.get("tools") or fields.get("tools") or [], "id": answer.get("id")}
    body |= {"model": call.get("model") or answer.get("model"), "usage": answer.get("usage")}
    draft = openai_chat.draft_of(body, "litellm", Tally())
    draft.model = plain_model(body["model"])
    return draft


def _messages(call: Mapping[str, Any]) -> list[dict[str, Any]]:
    messages = unquoted(call.get("messages"))
    if not messages:
        messages = _object(call.get("proxy_server_request")).get("messages")
    return openai_chat.messages_in(messages) or []


def _is_call(record: Mapping[str, Any]) -> bool:
    return "messages" in record and "response" in record and any(mark in record for mark in _MARKS)


def _object(value: Any) -> dict[str, Any]:
    return dict_of(unquoted(value))
