"""OpenAI chat messages: stored completions, request bodies, bare lists, benchmark trajectories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.domain.messages import Block
from app.importers.anthropic_request import count
from app.importers.draft import Draft, Turn
from app.importers.models import is_claude, plain_model
from app.importers.parts import blocks_of, result
from app.importers.report import Tally, kind
from app.importers.shapes import dict_of, dicts_of, list_of, text_of
from app.importers.values import Format, ImportedUsage

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_LISTS = ("messages", "traj", "history")


def messages_in(value: Any) -> list[dict[str, Any]] | None:
    """The chat messages of a document: under one of the usual keys, or the list itself."""
    if isinstance(value, dict):
        value = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), None)
    if not isinstance(value, list) or not value:
        return None
    messages = [message for message in value if isinstance(message, dict)]
    known = messages and all(message.get("role") in _ROLES for message in messages)
    return messages if known and len(messages) == len(value) else None


def conversations_in(value: Any) -> list[Any]:
    """Each part of a document that is a chat of its own: benchmark files hold many."""
    if messages_in(value) is not None:
        return [value]
    return [item for item in list_of(value) if messages_in(item) is not None]


def draft_of(body: Any, source: Format = "openai-chat", tally: Tally | None = None) -> Draft:
    """The conversation in a body, a stored completion or a list of messages."""
    tally = tally or Tally()
    fields = dict_of(body)
    answer = _answer(fields)
    chat = read_messages([*(messages_in(body) or []), *answer], tally)
    model = text_of(fields.get("model"))
    tally.model(model)
    for turn in chat.turns:
        turn.foreign = model is not None and not is_claude(model)
    draft = Draft(
        format=source,
        turns=chat.turns,
        tally=tally,
        model=plain_model(model),
        system=chat.system,
        tools=tools_of(fields.get("tools") or fields.get("functions"), tally),
        tool_choice=choice_of(fields),
        parameters=_parameters(fields),
        max_tokens=_limit(fields),
        has_definitions="tools" in fields,
    )
    usage = usage_of(fields.get("usage"), model, fields.get("id"))
    if usage and draft.turns and draft.turns[-1].role == "assistant":
        draft.turns[-1].usage = [usage]
    draft.last_record_id = text_of(fields.get("id"))
    return draft


@dataclass(slots=True)
class Chat:
    """What a list of chat messages says. `open_calls`: ids by function, of calls without one."""

    system: list[str] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    open_calls: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def read_messages(messages: Sequence[Mapping[str, Any]], tally: Tally) -> Chat:
    """System prompt and turns of chat messages; results still stand wherever they stood."""
    chat = Chat()
    for message in messages:
        read_message(message, chat, tally)
    return chat


def read_message(message: Mapping[str, Any], chat: Chat, tally: Tally) -> None:
    """Add one chat message; blocks in Anthropic's shape pass."""
    role = message.get("role")
    tally.message(role)
    if role in ("system", "developer"):
        _system(message, chat, tally)
    elif role == "assistant":
        chat.turns.append(Turn(role="assistant", blocks=_assistant(message, chat, tally)))
    elif role in ("tool", "function") and not _holds_results(message):
        chat.turns.append(Turn(role="user", blocks=[_tool(message, chat, tally)]))
    else:
        blocks = blocks_of(message.get("content"), tally)
        chat.turns.append(Turn(role="user", blocks=blocks))


def _holds_results(message: Mapping[str, Any]) -> bool:
    """Whether the results are parts with ids of their own, as Vercel's SDK has them."""
    parts = dicts_of(message.get("content"))
    return any(part.get("type") in ("tool-result", "tool_result") for part in parts)


def _system(message: Mapping[str, Any], chat: Chat, tally: Tally) -> None:
    texts = [b["text"] for b in blocks_of(message.get("content"), tally) if b["type"] == "text"]
    if not chat.turns:
        chat.system += texts
    elif texts:
        chat.turns.append(
            Turn(role="system", blocks=[{"type": "text", "text": text} for text in texts])
        )


def _assistant(message: Mapping[str, Any], chat: Chat, tally: Tally) -> list[Block]:
    blocks = [*_signed_thinking(message), *blocks_of(message.get("content"), tally)]
    if isinstance(message.get("refusal"), str) and message["refusal"].strip():
        blocks += blocks_of([{"type": "refusal", "refusal": message["refusal"]}], tally)
    if not _signed_thinking(message) and (
        message.get("reasoning_content") or message.get("reasoning")
    ):
        tally.drop("reasoning_of_another_provider")
    named = [block.get("id") for block in blocks if block["type"] == "tool_use"]
    calls = [call for call in calls_of(message) if call["id"] not in named or not call["id"]]
    if isinstance(message.get("function_call"), dict):
        calls.append(_old_call(message["function_call"], chat))
    return blocks + calls


def calls_of(message: Mapping[str, Any]) -> list[Block]:
    """The tool calls of an assistant's message, with their arguments as they stand."""
    given = message.get("tool_calls") or dict_of(message, "additional_kwargs").get("tool_calls")
    return [_call(call) for call in dicts_of(given)]


def _call(call: Mapping[str, Any]) -> Block:
    function = call.get("function")
    named: Mapping[str, Any] = function if isinstance(function, dict) else call
    given = named.get("arguments", named.get("args", named.get("input")))
    name = function if isinstance(function, str) else named.get("name")  # Inspect: a bare name
    return {"type": "tool_use", "id": call.get("id"), "name": name, "input": given}


def _old_call(call: Mapping[str, Any], chat: Chat) -> Block:
    call_id, name = f"function_{len(chat.turns)}", str(call.get("name"))
    chat.open_calls[name].append(call_id)
    return {"type": "tool_use", "id": call_id, "name": name, "input": call.get("arguments")}


def _tool(message: Mapping[str, Any], chat: Chat, tally: Tally) -> Block:
    call_id = message.get("tool_call_id")
    several = message.get("tool_call_ids")  # SWE-agent
    if call_id is None and isinstance(several, list) and several:
        call_id = several[0]
    if call_id is None:
        call_id = _open_call(message.get("name"), chat)
    error = message.get("error")
    failed = bool(error) or message.get("status") == "error"
    content = message.get("content")
    if isinstance(error, dict) and not content:
        content = error.get("message")
    return result(call_id, content, tally, failed=failed)


def _open_call(name: Any, chat: Chat) -> str | None:
    waiting = chat.open_calls.get(str(name))
    return waiting.pop() if waiting else None


def _signed_thinking(message: Mapping[str, Any]) -> list[Block]:
    """LiteLLM passes Claude's own thinking on beside the text."""
    return dicts_of(message.get("thinking_blocks"))


def _answer(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    message = dict_of(next(iter(dicts_of(fields.get("choices"))), None), "message")
    return [{**message, "role": "assistant"}] if message else []


def tools_of(tools: Any, tally: Tally) -> list[dict[str, Any]]:
    """Function definitions as Anthropic's; those already in its shape pass."""
    found = []
    for tool in list_of(tools):
        if not isinstance(tool, dict):
            tally.drop("tool_not_an_object")
        elif "input_schema" in tool:
            found.append(tool)
        elif tool.get("type") not in (None, "function"):
            tally.drop(f"tool:{kind(tool.get('type'))}")
        else:
            found.append(_tool_definition(tool.get("function") or tool))
    return found


def _tool_definition(function: Any) -> dict[str, Any]:
    given = dict_of(function)
    tool = {"name": given.get("name"), "description": given.get("description")}
    return {**tool, "input_schema": given.get("parameters")}


def choice_of(fields: Mapping[str, Any]) -> dict[str, Any] | None:
    """`tool_choice` and `parallel_tool_calls` as one Anthropic choice."""
    given = fields.get("tool_choice")
    known = {"auto": "auto", "required": "any", "any": "any", "none": "none"}
    choice: dict[str, Any] = {}
    if isinstance(given, str) and given in known:
        choice = {"type": known[given]}
    elif isinstance(given, dict):
        function = given.get("function")
        name = dict_of(function).get("name") or given.get("name")
        choice = {"type": "tool", "name": name}
    if fields.get("parallel_tool_calls") is False and choice.get("type") != "none":
        choice = {"type": "auto", **choice, "disable_parallel_tool_use": True}
    return choice or None


def usage_of(usage: Any, model: Any, call_id: Any = None, at: Any = None) -> ImportedUsage | None:
    """A usage object in OpenAI's shape: its prompt count has cached tokens in it, also Claude's."""
    if not isinstance(usage, dict):
        return None
    prompt = count(usage.get("prompt_tokens", usage.get("input_tokens")))
    if prompt is None:
        return None
    inner = dict_of(usage.get("prompt_tokens_details") or usage.get("input_token_details"))
    read = count(usage.get("cache_read_input_tokens")) or count(inner.get("cached_tokens"))
    read = read or count(inner.get("cache_read")) or 0
    written = count(usage.get("cache_creation_input_tokens")) or count(inner.get("cache_creation"))
    written = written or 0
    return ImportedUsage(
        model=plain_model(model) or "unknown",
        call_id=text_of(call_id),
        at=text_of(at),
        input_tokens=max(prompt - read - written, 0),
        cache_creation_input_tokens=written,
        cache_read_input_tokens=read,
        output_tokens=count(usage.get("completion_tokens", usage.get("output_tokens"))),
        claude=is_claude(model),
    )


def _limit(fields: Mapping[str, Any]) -> int | None:
    limit = count(fields.get("max_completion_tokens")) or count(fields.get("max_tokens"))
    return limit or None


def _parameters(fields: Mapping[str, Any]) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    stop = fields.get("stop")
    stops = [stop] if isinstance(stop, str) else list_of(stop)
    if any(isinstance(text, str) and text.strip() for text in stops):
        parameters["stop_sequences"] = [t for t in stops if isinstance(t, str) and t.strip()]
    schema = dict_of(fields, "response_format", "json_schema", "schema")
    if schema:
        parameters["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    return parameters
