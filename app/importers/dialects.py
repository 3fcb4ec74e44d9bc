"""What tracing tools record as the input or output of a model call, as chat messages.

They store whatever the traced program passed: OpenAI's or Anthropic's messages, LangChain's
objects in two serialisations, Gemini's contents, Pydantic AI's parts, a prompt; often as JSON in
a string, sometimes twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.importers.documents import parse_text
from app.importers.report import Tally
from app.importers.shapes import list_of, text_of

_ROLES = {
    "human": "user",
    "HumanMessage": "user",
    "HumanMessageChunk": "user",
    "user": "user",
    "ai": "assistant",
    "AIMessage": "assistant",
    "AIMessageChunk": "assistant",
    "assistant": "assistant",
    "model": "assistant",
    "system": "system",
    "SystemMessage": "system",
    "developer": "developer",
    "tool": "tool",
    "ToolMessage": "tool",
    "function": "function",
    "FunctionMessage": "function",
    "chat": "user",
}
_PYDANTIC = {
    "system-prompt": "system",
    "user-prompt": "user",
    "text": "assistant",
    "tool-call": "assistant",
    "tool-return": "tool",
    "retry-prompt": "tool",
}
_INSIDE = ("messages", "input", "contents", "message", "output")
_MAX_QUOTING = 4  # how often a value was turned into a string


@dataclass(slots=True)
class Recorded:
    """What a recorded value says."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    tools: list[Any] = field(default_factory=list)


def unquoted(value: Any) -> Any:
    """The value behind JSON in a string, however often it was quoted."""
    for _ in range(_MAX_QUOTING):
        if not isinstance(value, str) or value[:1] not in ("{", "[", '"'):
            break
        parsed = parse_text(value)
        if parsed is None:
            break
        value = parsed
    return value


def recorded(value: Any, tally: Tally, *, role: str = "user") -> Recorded:
    """Messages and tools in a recorded value; a bare text is a message of `role`."""
    found = Recorded()
    value = unquoted(value)
    if isinstance(value, dict):
        found.tools += list_of(value.get("tools"))
        system = value.get("system")
        if system:
            found.messages.append({"role": "system", "content": system})
    for message in _messages(value, role):
        definition = _definition(message)
        if definition is None:
            found.messages.append(message)
        else:
            tally.repair("tool_definition_among_messages")
            found.tools.append(definition)
    return found


def chat_message(value: Any) -> dict[str, Any] | None:
    """A LangChain object, in either serialisation, or a plain message, as a chat message."""
    if not isinstance(value, dict):
        return None
    fields = value
    name: Any = value.get("role") or value.get("type")
    if isinstance(value.get("kwargs"), dict) and isinstance(value.get("id"), list):
        fields, name = value["kwargs"], value["id"][-1] if value["id"] else None
    elif isinstance(value.get("data"), dict):
        fields = value["data"]
    role = _ROLES.get(name) if isinstance(name, str) else None
    if role is None or not ({"content", "tool_calls", "parts"} & fields.keys()):
        return None
    return {**fields, "role": role, "content": _content(fields)}


def _messages(value: Any, role: str) -> Iterator[dict[str, Any]]:
    if isinstance(value, str):
        if value.strip():
            yield {"role": role, "content": value}
    elif isinstance(value, list):
        for item in value:
            yield from _messages(unquoted(item) if isinstance(item, str) else item, role)
    elif isinstance(value, dict):
        yield from _in_object(value, role)


def _in_object(value: dict[str, Any], role: str) -> Iterator[dict[str, Any]]:
    message = chat_message(value)
    if message is not None:
        yield message
    elif isinstance(value.get("parts"), list) and "kind" in value:
        yield from (_pydantic(part) for part in value["parts"] if _is_pydantic(part))
    elif isinstance(value.get("generations"), list):
        yield from _generation(value["generations"])
    elif isinstance(value.get("choices"), list):
        yield from _choice(value["choices"])
    elif isinstance(value.get("prompt"), (str, list)):
        yield from _messages(value["prompt"], role)
    else:
        key = next((key for key in _INSIDE if isinstance(value.get(key), (list, dict))), None)
        if key is not None:
            yield from _messages(value[key], role)
        elif value.keys() == {"content"} and isinstance(value["content"], list):
            yield {"role": role, "content": value["content"]}


def _generation(generations: list[Any]) -> Iterator[dict[str, Any]]:
    first = generations[0] if generations else None
    first = first[0] if isinstance(first, list) and first else first
    message = chat_message(first.get("message")) if isinstance(first, dict) else None
    if message is not None:
        yield message


def _choice(choices: list[Any]) -> Iterator[dict[str, Any]]:
    first = choices[0] if choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if isinstance(message, dict):
        yield {"role": "assistant", **message}


def _content(fields: Mapping[str, Any]) -> Any:
    content = fields.get("content")
    parts = fields.get("parts")
    if content is None and isinstance(parts, list):  # Gemini
        return [_gemini(part) for part in parts if isinstance(part, dict)]
    return content


def _gemini(part: dict[str, Any]) -> dict[str, Any]:
    call, answer = part.get("functionCall"), part.get("functionResponse")
    if isinstance(call, dict):  # Gemini has no ids: the name stands in
        name = call.get("name")
        return {"type": "tool_use", "id": name, "name": name, "input": call.get("args")}
    if isinstance(answer, dict):
        content = answer.get("response")
        return {"type": "tool_result", "tool_use_id": answer.get("name"), "content": content}
    return {"type": "text", "text": part.get("text")}


def _is_pydantic(part: Any) -> bool:
    return isinstance(part, dict) and text_of(part.get("part_kind")) in _PYDANTIC


def _pydantic(part: dict[str, Any]) -> dict[str, Any]:
    role = _PYDANTIC[part["part_kind"]]
    call_id = part.get("tool_call_id")
    if part["part_kind"] == "tool-call":
        call = {"id": call_id, "name": part.get("tool_name"), "args": part.get("args")}
        return {"role": role, "content": None, "tool_calls": [call]}
    return {"role": role, "content": part.get("content"), "tool_call_id": call_id}


def _definition(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """A tool definition that a framework put among the messages."""
    content = message.get("content")
    if not isinstance(content, dict) or content.get("type") != "function":
        return None
    return content if "function" in content else None
