"""Eval logs of Inspect AI: the JSON log, or the samples that its `.eval` archive holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.importers import openai_chat
from app.importers.documents import Document
from app.importers.draft import Draft
from app.importers.openai_chat import usage_of
from app.importers.report import Tally
from app.importers.shapes import dict_of, dicts_of, text_of

_REFERENCES = ("attachment://", "tc://")
_Sample = dict[str, Any]


def is_log(document: Document) -> bool:
    """Whether it is a log with samples, or one sample of such a log."""
    return bool(_samples(document))


def drafts(documents: Sequence[Document]) -> list[Draft]:
    """One conversation for each sample and epoch."""
    return [
        _draft(sample, _task(document.value))
        for document in documents
        for sample in _samples(document)
    ]


def _samples(document: Document) -> list[_Sample]:
    value = document.value
    if not isinstance(value, dict):
        return []
    listed = value.get("samples") if "eval" in value else [value]
    return [item for item in dicts_of(listed) if {"messages", "epoch", "target"} <= item.keys()]


def _draft(sample: _Sample, task: str) -> Draft:
    tally = Tally()
    call = _last_call(sample)
    output = dict_of(sample, "output")
    model = output.get("model") or call.get("model")
    texts = _attachments(sample)
    if call.get("input"):
        answer = dict_of(call, "output")
        messages = [*call["input"], *_answers(answer)]
    else:
        answer, messages = output, sample["messages"]
    tools = [{"function": tool} for tool in dicts_of(call.get("tools"))]
    body = {"messages": _resolved(messages, texts), "model": model, "tools": tools}
    draft = openai_chat.draft_of(body, "inspect-ai", tally)
    usage = usage_of(answer.get("usage"), model)
    if usage and draft.turns[-1:] and draft.turns[-1].role == "assistant":
        draft.turns[-1].usage = [usage]
    draft.title = f"{task} {sample.get('id')} (epoch {sample.get('epoch')})".strip()
    draft.source_session_id = f"{sample.get('uuid') or sample.get('id')}/{sample.get('epoch')}"
    return draft


def _last_call(sample: _Sample) -> dict[str, Any]:
    """The last model call that was recorded with its input: what was really sent."""
    events = sample.get("events") or dict_of(sample, "transcript").get("events")
    calls = [event for event in dicts_of(events) if event.get("event") == "model"]
    return next((call for call in reversed(calls) if isinstance(call.get("input"), list)), {})


def _answers(output: Mapping[str, Any]) -> list[Any]:
    message = dict_of(next(iter(dicts_of(output.get("choices"))), None), "message")
    return [message] if message else []


def _attachments(sample: _Sample) -> dict[str, str]:
    inside = dict_of(sample, "transcript", "content")
    return {**inside, **dict_of(sample, "attachments")}


def _resolved(value: Any, texts: Mapping[str, str]) -> Any:
    """The value with every reference to a stored text or image replaced by it."""
    if isinstance(value, str) and value.startswith(_REFERENCES):
        return texts.get(value.split("://", 1)[1], value)
    if isinstance(value, list):
        return [_resolved(item, texts) for item in value]
    if isinstance(value, dict):
        return {key: _resolved(item, texts) for key, item in value.items()}
    return value


def _task(value: Any) -> str:
    return text_of(dict_of(value, "eval").get("task")) or ""
