"""The strict validator of a whole wire body: every rule that can be seen without the network."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from app.domain.catalogue import ModelFacts
from app.domain.jsontext import dumps
from app.domain.validity.block_types import ASSISTANT, SYSTEM
from app.domain.validity.cache_marks import cache_findings
from app.domain.validity.content import block_findings, message_findings, text_findings
from app.domain.validity.findings import Finding, Path, on_wire
from app.domain.validity.image_limits import image_limit_findings
from app.domain.validity.model_rules import (
    last_turn_findings,
    reference_findings,
    system_message_findings,
    thinking_findings,
    tool_choice_findings,
    tool_names,
)
from app.domain.validity.request_fields import BETA_FIELDS, REQUEST
from app.domain.validity.shapes import check_object
from app.domain.validity.tools import toolset_findings
from app.domain.validity.turns import joined, open_server_calls, turn_findings
from app.errors import Fault

MAX_BODY_BYTES = 32 * 1024 * 1024
MAX_MESSAGES = 100_000


def check_request(
    body: Mapping[str, Any], facts: ModelFacts, betas: Collection[str] = ()
) -> list[Fault]:
    """Every fault of a body of `POST /v1/messages`, as the provider would find it.

    `facts` are those of the body's model, `betas` the values of the anthropic-beta header. Takes
    any JSON object and raises nothing. What only the provider can know is not checked:
    signatures, the exact number of tokens, what stands behind URLs and file ids.
    """
    return on_wire(_findings(body, facts, betas))


def _findings(
    body: Mapping[str, Any], facts: ModelFacts, betas: Collection[str]
) -> Iterator[Finding]:
    yield from _body_findings(body)
    yield from _field_findings(body, betas)
    yield from _number_findings(body, facts)
    yield from _system_findings(body.get("system"))
    tools = body.get("tools")
    yield from toolset_findings(tools if isinstance(tools, list) else (), ("tools",))
    yield from tool_choice_findings(body, facts)
    yield from thinking_findings(body, facts, betas)
    if isinstance(body.get("messages"), list):
        yield from _message_findings(body, facts)
    yield from cache_findings(body)


def _body_findings(body: Mapping[str, Any]) -> Iterator[Finding]:
    try:
        size = len(dumps(body).encode())
    except UnicodeEncodeError:
        yield Finding((), "surrogate", "A text holds a lone surrogate.")
        return
    if size > MAX_BODY_BYTES:
        yield Finding((), "body_too_large", f"At most {MAX_BODY_BYTES} bytes.")


def _field_findings(body: Mapping[str, Any], betas: Collection[str]) -> Iterator[Finding]:
    for finding in check_object(body, REQUEST, ()):
        name = finding.path[0] if finding.path else ""
        if finding.code != "field_unknown" or not betas or name not in BETA_FIELDS:
            yield finding
    if "type" in body:  # a field like any other, at the top
        yield Finding(("type",), "field_unknown", "Leave it out: there is no such field here.")
    stops = body.get("stop_sequences")
    for index, stop in enumerate(stops if isinstance(stops, list) else ()):
        if not isinstance(stop, str) or not stop.strip():
            yield Finding(
                ("stop_sequences", index), "stop_sequence_blank", "It needs more than whitespace."
            )


def _number_findings(body: Mapping[str, Any], facts: ModelFacts) -> Iterator[Finding]:
    most = body.get("max_tokens")
    if not isinstance(most, int):
        return
    if most > facts.max_output:
        yield Finding(
            ("max_tokens",), "max_tokens_too_large", f"At most {facts.max_output} for this model."
        )
    if most == 0 and _wants_an_answer(body):
        yield Finding(("max_tokens",), "max_tokens_zero", "0 only warms the cache.")


def _wants_an_answer(body: Mapping[str, Any]) -> bool:
    thinking, output, choice = (
        value if isinstance(value, dict) else {}
        for value in (body.get("thinking"), body.get("output_config"), body.get("tool_choice"))
    )
    return bool(
        body.get("stream")
        or thinking.get("type") == "enabled"
        or output.get("format")
        or choice.get("type") in ("any", "tool")
    )


def _system_findings(system: Any) -> Iterator[Finding]:
    if isinstance(system, str):
        yield from text_findings(system, ("system",))
    for index, block in enumerate(system if isinstance(system, list) else ()):
        path: Path = ("system", index)
        if isinstance(block, dict) and block.get("type") != "text":
            yield Finding(path, "system_block_type", "The system prompt is text.")
        else:
            yield from block_findings(block, SYSTEM, path)


def _message_findings(body: Mapping[str, Any], facts: ModelFacts) -> Iterator[Finding]:
    messages = body["messages"]
    if not messages:
        yield Finding(("messages",), "messages_empty", "At least one message is needed.")
    if len(messages) > MAX_MESSAGES:
        yield Finding(("messages",), "messages_too_many", f"At most {MAX_MESSAGES}.")
        return
    for index, message in enumerate(messages):
        path: Path = ("messages", index)
        if not isinstance(message, dict):
            yield Finding(path, "field_invalid", "A message is an object.")
            continue
        yield from _message_field_findings(message, path)
        if not (index == len(messages) - 1 and _is_empty_prefill(message)):
            yield from message_findings(message.get("role"), message.get("content"), path)
    turns = joined(messages)
    yield from turn_findings(turns)
    yield from system_message_findings(turns, facts)
    if turns and not open_server_calls(turns):
        yield from last_turn_findings(turns[-1], facts)
    yield from image_limit_findings(turns, facts)
    yield from reference_findings(turns, tool_names(body))


def _message_field_findings(message: Mapping[str, Any], path: Path) -> Iterator[Finding]:
    if message.keys() - {"role", "content"}:
        yield Finding(path, "field_unknown", "A message has a role and a content, no more.")


def _is_empty_prefill(message: Mapping[str, Any]) -> bool:
    return message.get("role") == ASSISTANT and message.get("content") in ("", [])
