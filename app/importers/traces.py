"""A conversation from the calls that a tracing tool recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.importers.dialects import Recorded
from app.importers.draft import Draft
from app.importers.models import is_claude, plain_model
from app.importers.openai_chat import Chat, read_message, tools_of, usage_of
from app.importers.report import Tally
from app.importers.shapes import dict_of, text_of
from app.importers.values import Format, ImportedUsage


def draft_of(
    source: Format,
    messages: Iterable[Mapping[str, Any]],
    tools: list[Any],
    model: Any,
    tally: Tally,
) -> Draft:
    """A draft of chat messages, each answer with the usage that stands in it."""
    chat = Chat()
    for message in messages:
        read_message(message, chat, tally)
        _take_usage(message, chat, model)
    for turn in chat.turns:
        turn.foreign = model is not None and not is_claude(model)
    return Draft(
        format=source,
        turns=chat.turns,
        tally=tally,
        model=plain_model(model),
        system=chat.system,
        tools=tools_of(tools, tally),
        has_definitions=bool(tools),
    )


def joined(*values: Recorded) -> Recorded:
    """What a call was given and what it answered, as one."""
    return Recorded(
        messages=[message for value in values for message in value.messages],
        tools=[tool for value in values for tool in value.tools],
    )


def give_usage(draft: Draft, usage: ImportedUsage | None) -> None:
    """Give the usage of the last call to the answer, unless the answer had its own."""
    if usage and draft.turns and draft.turns[-1].role == "assistant":
        draft.turns[-1].usage = draft.turns[-1].usage or [usage]


def _take_usage(message: Mapping[str, Any], chat: Chat, model: Any) -> None:
    own = message.get("usage")
    if isinstance(own, ImportedUsage) and chat.turns:
        chat.turns[-1].usage = [own]
        return
    inner = dict_of(message, "response_metadata")
    name = text_of(inner.get("model_name")) or text_of(inner.get("model")) or model
    usage = usage_of(message.get("usage_metadata"), name, inner.get("id"))
    if usage and chat.turns and message.get("role") == "assistant":
        chat.turns[-1].usage = [usage]
