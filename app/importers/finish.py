"""From an adapter's draft to what is handed out: tidied, repaired, hashed, reported."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.domain.catalogue import facts_for
from app.domain.jsontext import dumps
from app.domain.messages import Block
from app.domain.text import clean, clean_json
from app.errors import ImportRefused
from app.importers.blocks import Tidier
from app.importers.draft import Draft, Turn
from app.importers.names import ToolNames
from app.importers.parameters import takeable
from app.importers.repair import repair
from app.importers.report import kind
from app.importers.shapes import dicts_of
from app.importers.tools import tidy_choice, tidy_tools
from app.importers.values import Imported, ImportedMessage, ImportedSummary, ImportedUsage

MAX_TITLE = 200  # characters


def finish(draft: Draft) -> Imported:
    """The draft as a session that could be sent.

    Raises:
        ImportRefused: nothing in it is a message.
    """
    names = ToolNames(draft.tally)
    tools = tidy_tools(draft.tools, names, draft.tally)
    sent = frozenset(tool["name"] for tool in tools if "name" in tool)
    turns = _tidied(draft, Tidier(draft.tally, names, sent))
    turns = repair(turns, draft.tally)
    if not turns:
        raise ImportRefused("The file is recognised, but no message of a conversation is in it.")
    messages = [ImportedMessage(turn.role, clean_json(turn.blocks)) for turn in turns]
    summary = _summary(draft, turns)
    usage = [replace(use, message=index) for index, turn in enumerate(turns) for use in turn.usage]
    system = [clean(text) for text in draft.system if text.strip()]
    tools = clean_json(tools)
    settings = _settings(draft, names, tools)
    content = _digest([system, tools, [[m.role, m.blocks] for m in messages], draft.summary])
    return Imported(
        format=draft.format,
        title=_title(draft, messages),
        model=draft.model,
        system_blocks=system,
        tools=tools,
        tool_choice=settings.pop("tool_choice", None),
        parameters=settings,
        max_tokens=draft.max_tokens,
        messages=messages,
        summary=summary,
        usage=usage,
        source_session_id=draft.source_session_id,
        last_record_id=draft.last_record_id,
        content_hash=content,
        fingerprint=_digest([draft.format, draft.source_session_id, draft.last_record_id, content]),
        parent=draft.parent,
        report=_report(draft, messages, summary, usage, names.all),
    )


def _tidied(draft: Draft, tidier: Tidier) -> list[Turn]:
    takes_system = draft.model is not None and facts_for(draft.model).system_messages
    for turn in draft.turns:
        if turn.role == "system" and not takes_system:
            draft.tally.repair("system_message_made_user_text")
            turn.role = "user"
            turn.blocks = [block for block in dicts_of(turn.blocks) if block.get("type") == "text"]
        turn.blocks = tidier.blocks(turn.role, turn.blocks, foreign=turn.foreign)
    return draft.turns


def _settings(draft: Draft, names: ToolNames, tools: list[dict[str, Any]]) -> dict[str, Any]:
    choice = tidy_choice(draft.tool_choice, names, tools, draft.tally)
    wanted = {**clean_json(draft.parameters), **({"tool_choice": choice} if choice else {})}
    return takeable(wanted, draft.model, draft.max_tokens, tools, draft.tally)


def _summary(draft: Draft, turns: Sequence[Turn]) -> ImportedSummary | None:
    covers = sum(turn.compacted for turn in turns)
    if draft.summary is None or not covers:
        return None
    return ImportedSummary(clean(draft.summary), covers)


def _title(draft: Draft, messages: Sequence[ImportedMessage]) -> str:
    title = " ".join(draft.title.split()) or _first_words(messages) or draft.format
    title = clean(title)
    return title if len(title) <= MAX_TITLE else title[: MAX_TITLE - 1] + "…"


def _first_words(messages: Sequence[ImportedMessage]) -> str:
    """The start of the first thing that a user wrote, leaving out what a client put around it."""
    for message in messages:
        for block in message.blocks:
            text = block.get("text") if message.role == "user" else None
            if isinstance(text, str) and not text.lstrip().startswith(("<", "Caveat:")):
                return " ".join(text[: 4 * MAX_TITLE].split())
    return ""


def _digest(value: Any) -> str:
    return hashlib.sha256(dumps(value).encode()).hexdigest()


def _report(
    draft: Draft,
    messages: Sequence[ImportedMessage],
    summary: ImportedSummary | None,
    usage: Sequence[ImportedUsage],
    names: list[str],
) -> dict[str, Any]:
    tally = draft.tally
    records = tally.records or tally.messages
    return {
        "format": draft.format,
        "records": {"read": records.total(), "by_type": _sorted(records)},
        "messages": len(messages),
        "roles": _sorted(Counter(message.role for message in messages)),
        "blocks": _sorted(Counter(kind(b["type"]) for m in messages for b in m.blocks)),
        "failed_results": sum(_is_error(block) for m in messages for block in m.blocks),
        "dropped": _sorted(tally.dropped),
        "repaired": _sorted(tally.repaired),
        "kept_not_understood": _sorted(tally.kept),
        "models": _sorted(tally.models),
        "system_prompt": _part(draft, len(draft.system)),
        "tools": {**_part(draft, len(draft.tools)), "names": names},
        "usage": _usage(usage),
        "first_call_input_tokens": _first_total(usage),
        "summary": summary and {"covers_messages": summary.covers, "characters": len(summary.text)},
        **tally.facts,
    }


def _part(draft: Draft, count: int) -> dict[str, Any]:
    """How many there are, and whether the format could have told."""
    return {"count": count, "in_the_source": draft.has_definitions}


def _usage(usage: Sequence[ImportedUsage]) -> dict[str, Any]:
    return {
        "found": bool(usage),
        "calls": len(usage),
        "of_claude": sum(use.claude for use in usage),
    }


def _first_total(usage: Sequence[ImportedUsage]) -> int | None:
    """The whole input of the first call that Claude's tokenizer counted.

    Less the messages before that call, it is the size of system prompt and tools.
    """
    totals = (use.input_total for use in usage if use.claude)
    return next((total for total in totals if total is not None), None)


def _is_error(block: Block) -> bool:
    return block["type"] == "tool_result" and bool(block.get("is_error"))


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))
