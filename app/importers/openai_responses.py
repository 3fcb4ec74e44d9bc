"""Items of OpenAI's Responses API: lists of them, requests and responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.importers import openai_chat
from app.importers.documents import Document
from app.importers.draft import Draft
from app.importers.report import Tally, kind
from app.importers.shapes import dict_of, dicts_of, list_of, text_of

_CALLS = ("function_call", "custom_tool_call")
_ITEMS = ("message", "reasoning", *_CALLS, "function_call_output", "custom_tool_call_output")


def is_list(document: Document) -> bool:
    """Whether it holds items of the Responses API."""
    items = _items(document.value)
    typed = [item for item in dicts_of(items) if item.get("type") in _ITEMS]
    return bool(typed) and len(typed) * 2 > len(items)


def drafts(documents: Sequence[Document]) -> list[Draft]:
    """One conversation for each document."""
    return [_draft(document.value) for document in documents]


def _draft(value: Any) -> Draft:
    tally = Tally()
    fields = dict_of(value)
    messages = [_message(item, tally) for item in dicts_of(_items(value))]
    instructions = text_of(fields.get("instructions"))
    if instructions:
        messages.insert(0, {"role": "system", "content": instructions})
    body = {key: fields[key] for key in ("model", "tools", "usage", "id") if key in fields}
    chat = [message for message in messages if message is not None]
    return openai_chat.draft_of({**body, "messages": chat}, "openai-responses", tally)


def _items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        lists = (value.get(key) for key in ("data", "input", "output"))
        return [item for items in lists for item in list_of(items)]
    return list_of(value)


def _message(item: Mapping[str, Any], tally: Tally) -> dict[str, Any] | None:
    name = item.get("type")
    if name in _CALLS:
        given = item.get("arguments", item.get("input"))
        call = {"id": item.get("call_id"), "name": item.get("name"), "arguments": given}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    if name in ("function_call_output", "custom_tool_call_output"):
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")}
    if name in ("message", None) and item.get("role") in (
        "user",
        "assistant",
        "system",
        "developer",
    ):
        return {"role": item["role"], "content": item.get("content")}
    tally.drop("reasoning_of_another_provider" if name == "reasoning" else f"item:{kind(name)}")
    return None
