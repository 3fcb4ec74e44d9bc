"""Exchanges that a proxy recorded: claude-trace lines and HAR files.

Every call repeats its history, so that the last call of a conversation, with its answer, is the
conversation, and the calls before it are its usage. Headers are looked at once, to tell the
users of a proxy apart, and never kept.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from app.domain.jsontext import dumps
from app.importers import anthropic_request
from app.importers.documents import Document, parse_text
from app.importers.draft import Draft
from app.importers.event_stream import answer_of
from app.importers.report import Tally
from app.importers.shapes import dict_of, dicts_of, text_of

_TURNS = re.compile(r"/v1/messages/?(\?[^#]*)?$")
_REMINDER = "<system-reminder>"
# What clients ask beside the conversation: a name for it, or whether its topic is new.
_SIDE_CALL = re.compile(
    r"isNewTopic|new conversation topic|(write|generate|concise).{0,40}title", re.I
)


def is_capture(document: Document) -> bool:
    """Whether it holds exchanges: a request with its URL, and a response."""
    return any(_is_exchange(entry) for entry in _entries(document))


def drafts(documents: Sequence[Document]) -> list[Draft]:
    """One for each conversation: calls whose messages continue one another."""
    entries = [entry for document in documents for entry in _entries(document)]
    calls, skipped = _calls(entries)
    conversations = _grouped(calls)
    found = [_draft(conversation) for conversation in conversations]
    if found:
        for reason, number in skipped.items():
            found[0].tally.drop(reason, number)
        found[0].tally.facts["conversations"] = len(found)
    return found


@dataclass(frozen=True, slots=True)
class _Call:
    """One call for a turn."""

    owner: str  # a hash of the credentials and the session: tells conversations apart, no more
    body: dict[str, Any]
    histories: tuple[str, ...]  # after each message a hash of all up to it, of what is stable
    answer: dict[str, Any] | None
    at: str | None


def _entries(document: Document) -> list[dict[str, Any]]:
    value = document.value
    return dicts_of(dict_of(value, "log").get("entries")) or document.records


def _is_exchange(entry: Mapping[str, Any]) -> bool:
    request = entry.get("request")
    return isinstance(request, dict) and isinstance(request.get("url"), str)


def _calls(entries: Sequence[dict[str, Any]]) -> tuple[list[_Call], dict[str, int]]:
    calls: list[_Call] = []
    skipped = {"other_request": 0, "side_call": 0}
    for entry in entries:
        request = entry["request"] if _is_exchange(entry) else {}
        body = _body(request)
        if not _TURNS.search(request.get("url", "")) or not anthropic_request.is_request(body):
            skipped["other_request"] += 1
        elif _is_side_call(body):
            skipped["side_call"] += 1
        else:
            calls.append(_call(entry, request, body))
    return calls, skipped


def _call(entry: Mapping[str, Any], request: Mapping[str, Any], body: dict[str, Any]) -> _Call:
    at = request.get("timestamp") or entry.get("startedDateTime")
    return _Call(
        owner=_owner(request.get("headers"), anthropic_request.session_of(body)),
        body=body,
        histories=tuple(accumulate(map(_message_hash, body["messages"]), _chained)),
        answer=_answer(entry.get("response")),
        at=text_of(at),
    )


def _grouped(calls: Sequence[_Call]) -> list[list[_Call]]:
    """Calls by conversation: each goes to the one whose whole last history it starts with."""
    conversations: list[list[_Call]] = []
    by_history: dict[tuple[str, str], list[_Call]] = {}
    for call in calls:
        keys = [(call.owner, history) for history in reversed(call.histories)]
        known = next((key for key in keys if key in by_history), None)
        conversation = by_history.pop(known) if known else []
        if not conversation:
            conversations.append(conversation)
        conversation.append(call)
        by_history[keys[0]] = conversation
    return conversations


def _draft(calls: Sequence[_Call]) -> Draft:
    tally = Tally()
    last = calls[-1]
    draft = anthropic_request.draft_of(last.body, tally)
    draft.format = "gateway-capture"
    tally.record("exchange")
    if last.answer is None:
        tally.drop("answer_missing_or_failed")
    for call in calls[:-1]:
        tally.record("exchange")
        tally.model(call.body.get("model"))
        _give_usage(draft, call)
    if last.answer is not None:
        anthropic_request.add_answer(draft, last.answer, last.at)
        draft.last_record_id = text_of(last.answer.get("id"))
    return draft


def _give_usage(draft: Draft, call: _Call) -> None:
    """The answer to an earlier call stands in the history right behind what it was sent."""
    if call.answer is None or len(call.histories) >= len(draft.turns):
        return
    turn = draft.turns[len(call.histories)]
    model = call.answer.get("model") or call.body.get("model")
    usage = anthropic_request.usage_of(
        call.answer.get("usage"), model, call_id=call.answer.get("id"), at=call.at
    )
    if usage and turn.role == "assistant":
        turn.usage = [usage]


def _answer(response: Any) -> dict[str, Any] | None:
    if not isinstance(response, dict):
        return None
    content = dict_of(response, "content")  # HAR
    inner = content.get("text")
    if content.get("encoding") == "base64":
        inner = _decoded(inner)
    found = next((v for v in (response.get("body"), response.get("body_raw"), inner) if v), None)
    if isinstance(found, str):
        found = parse_text(found) or answer_of(found)
    is_message = isinstance(found, dict) and isinstance(found.get("content"), list)
    return found if is_message else None


def _decoded(text: Any) -> str | None:
    try:
        return base64.b64decode(text).decode("utf-8", "replace") if isinstance(text, str) else None
    except ValueError:
        return None


def _body(request: Mapping[str, Any]) -> Any:
    body = request.get("body") or dict_of(request, "postData").get("text")  # HAR
    return parse_text(body) if isinstance(body, str) else body


def _is_side_call(body: Mapping[str, Any]) -> bool:
    if body.get("max_tokens") == 1:  # a probe of the quota
        return True
    alone = len(body["messages"]) == 1 and not body.get("tools")
    return alone and bool(_SIDE_CALL.search(dumps(body.get("system"))))


def _owner(headers: Any, session: str | None) -> str:
    named = dict(_headers(headers))
    secret = named.get("x-api-key") or named.get("authorization") or ""
    return hashlib.sha256(f"{secret}\n{session}".encode("utf-8", "replace")).hexdigest()


def _headers(headers: Any) -> Iterator[tuple[str, str]]:
    listed = list(headers.items()) if isinstance(headers, dict) else []
    if isinstance(headers, list):  # HAR
        listed = [(h.get("name"), h.get("value")) for h in headers if isinstance(h, dict)]
    yield from ((str(name).lower(), str(value)) for name, value in listed)


def _message_hash(message: Any) -> str:
    content = dict_of(message).get("content")
    blocks = anthropic_request.blocks_in(content)
    stable = [_stable(block) for block in blocks if not _is_reminder(block)]
    role = dict_of(message).get("role")
    return hashlib.sha256(dumps([role, stable]).encode()).hexdigest()


def _chained(before: str, message: str) -> str:
    return hashlib.sha256(f"{before}{message}".encode()).hexdigest()


def _stable(block: Any) -> Any:
    if not isinstance(block, dict):
        return block
    return {key: value for key, value in block.items() if key != "cache_control"}


def _is_reminder(block: Any) -> bool:
    text = dict_of(block).get("text")
    return isinstance(text, str) and text.startswith(_REMINDER)
