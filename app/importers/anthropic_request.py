"""Bodies of Anthropic Messages requests, bare or wrapped, with their answer where there is one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from app.domain.messages import Block
from app.importers.draft import Draft, Turn
from app.importers.models import is_claude, plain_model
from app.importers.report import Tally, kind
from app.importers.shapes import dict_of, dicts_of, list_of, text_of
from app.importers.values import ImportedUsage

# What an agent can be configured with. Sampling parameters are refused by the API since version
# 2026-10-21; the rest needs beta headers, or belongs to one call.
_PARAMETERS = ("stop_sequences", "thinking", "output_config", "service_tier")
_OWN = ("model", "max_tokens", "system", "tools", "tool_choice", "messages")
_MOST_TOKENS = 10**9  # of one call: more is no count
_SESSION = re.compile(r"_session_([0-9a-fA-F-]{36})")
_BLOCKS = {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"}


def is_request(value: Any) -> bool:
    """Whether it is a body for /v1/messages rather than one for a chat completion."""
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        return False
    messages = [message for message in value["messages"] if isinstance(message, dict)]
    if not messages or any(not _can_be_anthropic(message) for message in messages):
        return False
    if messages[0].get("role") == "system" or _has_functions(value):
        return False
    return "model" in value or "max_tokens" in value or "system" in value or _has_blocks(messages)


def unwrapped(value: Any) -> Any:
    """The body in `{"request": …}` or `{"body": …}`; anything else as it is."""
    for key in ("request", "body"):
        inner = value.get(key) if isinstance(value, dict) else None
        if isinstance(inner, dict) and ("messages" in inner or "body" in inner):
            return unwrapped(inner)
    return value


def draft_of(body: Mapping[str, Any], tally: Tally | None = None) -> Draft:
    """The conversation in a request body."""
    tally = tally or Tally()
    model = text_of(body.get("model"))
    tally.model(model)
    draft = Draft(
        format="anthropic-request",
        turns=[],
        tally=tally,
        model=plain_model(model),
        system=_system(body.get("system"), tally),
        tools=dicts_of(body.get("tools")),
        parameters={key: body[key] for key in _PARAMETERS if body.get(key) is not None},
        source_session_id=session_of(body),
    )
    draft.tool_choice = dict_of(body, "tool_choice") or None
    draft.max_tokens = count(body.get("max_tokens")) or None
    for field in body.keys() - {*_OWN, *_PARAMETERS}:
        tally.drop(f"field:{kind(field)}")
    for message in body["messages"]:
        tally.message(message.get("role") if isinstance(message, dict) else None)
    draft.turns = [turn_of(message, model) for message in body["messages"] if _is_turn(message)]
    _cut_at_compaction(draft)
    return draft


def add_answer(draft: Draft, answer: Mapping[str, Any], at: str | None = None) -> None:
    """Put the answer to the request behind it, with its usage."""
    model = text_of(answer.get("model")) or draft.model or "unknown"
    turn = turn_of({"role": "assistant", "content": answer.get("content")}, model)
    usage = usage_of(answer.get("usage"), model, call_id=answer.get("id"), at=at)
    turn.usage = [usage] if usage else []
    draft.turns.append(turn)


def turn_of(message: Mapping[str, Any], model: Any) -> Turn:
    """A message in Anthropic's shape as a turn."""
    foreign = model is not None and not is_claude(model)
    return Turn(role=message["role"], blocks=blocks_in(message.get("content")), foreign=foreign)


def blocks_in(content: Any) -> list[Any]:
    """The blocks of a message's content; a string is one text block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list_of(content)


def usage_of(
    usage: Any, model: Any, *, call_id: Any = None, at: Any = None, finished: bool = True
) -> ImportedUsage | None:
    """A usage object in Anthropic's shape. `finished`: its output count is the final one."""
    if not isinstance(usage, dict):
        return None
    counts = {name: count(usage.get(name)) for name in _COUNTS}
    if not finished:
        counts["output_tokens"] = None
    if not any(counts.values()):
        return None
    return ImportedUsage(
        model=plain_model(model) or "unknown",
        call_id=text_of(call_id),
        at=text_of(at),
        claude=is_claude(model),
        **counts,
    )


_COUNTS = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
)


def count(value: Any) -> int | None:
    """A count of tokens, or None for whatever is none."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= _MOST_TOKENS else None


def session_of(body: Mapping[str, Any]) -> str | None:
    """The session that the client wrote into `metadata.user_id`: its id alone."""
    user = text_of(dict_of(body, "metadata").get("user_id")) or ""
    found = _SESSION.search(user) or re.search(r'"session_id":\s*"([0-9a-fA-F-]{36})"', user)
    return found[1] if found else None


def _system(system: Any, tally: Tally) -> list[str]:
    if isinstance(system, str):
        return [system]
    texts = []
    for block in list_of(system):
        text = block.get("text") if isinstance(block, dict) else block
        if isinstance(text, str) and text.strip():
            texts.append(text)
        else:
            tally.drop("system_block_without_text")
        if isinstance(block, dict) and "cache_control" in block:
            tally.repair("cache_marks_removed")
    return texts


def _cut_at_compaction(draft: Draft) -> None:
    """The last `compaction` block stands for all before it: it becomes the summary."""
    for index in range(len(draft.turns) - 1, -1, -1):
        turn = draft.turns[index]
        at = _last_compaction(turn.blocks)
        if at is None:
            continue
        text = turn.blocks[at]["content"]
        before = Turn(role=turn.role, blocks=turn.blocks[:at])
        earlier = [*draft.turns[:index], *([before] if before.blocks else [])]
        for each in earlier:
            each.compacted = True
            each.blocks = [block for block in each.blocks if not _is_compaction(block)]
        turn.blocks = turn.blocks[at + 1 :]
        draft.tally.repair("compaction_block_made_summary")
        start = [] if earlier else [Turn(role="user", blocks=[{"type": "text", "text": text}])]
        draft.summary = text if earlier else None
        draft.turns = [*earlier, *start, turn, *draft.turns[index + 1 :]]
        return


def _last_compaction(blocks: list[Block]) -> int | None:
    found = [at for at, block in enumerate(blocks) if _is_compaction(block)]
    return found[-1] if found else None


def _is_compaction(block: Any) -> bool:
    if not isinstance(block, dict) or block.get("type") != "compaction":
        return False
    content = block.get("content")
    return isinstance(content, str) and bool(content.strip())


def _is_turn(message: Any) -> bool:
    return isinstance(message, dict) and message.get("role") in ("user", "assistant", "system")


def _can_be_anthropic(message: Mapping[str, Any]) -> bool:
    openai = {"tool_calls", "function_call", "tool_call_id"} & message.keys()
    return not openai and _is_turn(message)


def _has_functions(value: Mapping[str, Any]) -> bool:
    return "choices" in value or any("function" in tool for tool in dicts_of(value.get("tools")))


def _has_blocks(messages: Iterable[Mapping[str, Any]]) -> bool:
    return any(
        text_of(block.get("type")) in _BLOCKS
        for message in messages
        for block in dicts_of(message.get("content"))
    )
