"""Traces of Langfuse: UI downloads, lists of observations, ingestion batches.

Where the last model call was given the history, it is the conversation. Where each call was only
given its own step, the conversation is put together from all calls and tools in time order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.domain.jsontext import dumps
from app.importers import traces
from app.importers.anthropic_request import count
from app.importers.dialects import Recorded, recorded, unquoted
from app.importers.documents import Document
from app.importers.draft import Draft
from app.importers.models import is_claude, plain_model
from app.importers.report import Tally
from app.importers.shapes import dicts_of, text_of
from app.importers.values import ImportedUsage

_Observation = dict[str, Any]


def is_export(document: Document) -> bool:
    """Whether it holds a trace with observations, or observations alone."""
    return bool(_traces([document]))


def drafts(documents: Sequence[Document]) -> list[Draft]:
    """One conversation for each session, or for each trace that is of none."""
    return [_draft(name, *found) for name, found in _traces(documents).items()]


_Trace = tuple[dict[str, Any], list[_Observation]]


def _traces(documents: Sequence[Document]) -> dict[str, _Trace]:
    """Trace fields and observations of each trace, by id."""
    fields: dict[str, dict[str, Any]] = defaultdict(dict)
    observations: dict[str, dict[str, _Observation]] = defaultdict(dict)
    for document in documents:
        for record in document.records:
            trace, found = _unpacked(record)
            for each in trace:
                fields[str(each.get("id"))] |= _said(each)
            for each in found:
                same = observations[str(each.get("traceId"))]
                same[str(each.get("id"))] = same.get(str(each.get("id")), {}) | _said(each)
    return {key: (fields[key], list(same.values())) for key, same in observations.items()}


def _unpacked(record: dict[str, Any]) -> tuple[list[dict[str, Any]], list[_Observation]]:
    if isinstance(record.get("batch"), list):
        return _from_batch(record["batch"])
    trace = record.get("trace")
    listed = record.get("observations")
    if isinstance(listed, list):
        inner = trace if isinstance(trace, dict) else record
        return [inner], [each for each in listed if _is_observation(each)]
    return [], [record] if _is_observation(record) else []


def _from_batch(events: list[Any]) -> tuple[list[dict[str, Any]], list[_Observation]]:
    found: list[_Observation] = []
    trace: list[dict[str, Any]] = []
    for event in events:
        name, body = (event.get("type"), event.get("body")) if isinstance(event, dict) else (0, 0)
        if not isinstance(name, str) or not isinstance(body, dict):
            continue
        kind = name.rsplit("-", 1)[0]
        if kind == "trace":
            trace.append(body)
        elif body.get("traceId"):
            found.append({"type": kind.upper(), **body})
    return trace, found


def _is_observation(value: Any) -> bool:
    return isinstance(value, dict) and "traceId" in value and "type" in value


def _said(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


def _draft(trace_id: str, trace: Mapping[str, Any], observations: list[_Observation]) -> Draft:
    tally = Tally()
    observations.sort(key=lambda each: str(each.get("startTime")))
    for each in observations:
        tally.record(f"observation:{each.get('type')}")
    calls = [each for each in observations if each.get("type") == "GENERATION"]
    for call in calls:
        tally.model(call.get("model"))
    model = next((call["model"] for call in reversed(calls) if call.get("model")), None)
    said = _conversation(trace, observations, calls, tally)
    draft = traces.draft_of("langfuse", said.messages, said.tools, model, tally)
    if calls:
        traces.give_usage(draft, _usage(calls[-1]))
    draft.title = text_of(trace.get("name")) or ""
    draft.source_session_id = text_of(trace.get("sessionId")) or trace_id
    draft.last_record_id = str(observations[-1].get("id"))
    return draft


def _conversation(
    trace: Mapping[str, Any],
    observations: list[_Observation],
    calls: list[_Observation],
    tally: Tally,
) -> Recorded:
    if not calls:
        whole = trace if trace.get("output") or trace.get("input") else observations[0]
        return _exchange(whole, tally)
    last = recorded(calls[-1].get("input"), Tally())
    if len(calls) == 1 or any(message["role"] == "assistant" for message in last.messages):
        return _exchange(calls[-1], tally)
    tally.repair("history_put_together_from_steps")
    return _steps(trace, observations, tally)


def _exchange(observation: Mapping[str, Any], tally: Tally) -> Recorded:
    given = recorded(observation.get("input"), tally)
    answer = recorded(observation.get("output"), tally, role="assistant")
    if len(answer.messages) > 1:  # a graph's output repeats its input
        given.messages = [m for m in given.messages if m["role"] == "system"]
    return traces.joined(given, answer)


def _steps(
    trace: Mapping[str, Any], observations: Iterable[_Observation], tally: Tally
) -> Recorded:
    said = Recorded()
    system = _system(trace, observations)
    if system:
        said.messages.append({"role": "system", "content": system})
    open_calls: dict[tuple[str, str], list[str]] = defaultdict(list)
    for each in observations:
        if each.get("type") == "GENERATION":
            step = _step(each, tally)
            said.messages += step.messages
            said.tools += step.tools
            for message in step.messages:
                _remember_calls(message, open_calls)
            if step.messages:
                step.messages[-1]["usage"] = _usage(each)
        elif each.get("type") == "TOOL":
            said.messages.append(_tool(each, open_calls))
    return said


def _step(call: _Observation, tally: Tally) -> Recorded:
    given = unquoted(call.get("input"))
    empty = isinstance(given, dict) and given.get("content") == "role"  # a fault of an SDK
    question = Recorded() if empty else recorded(given, tally)
    return traces.joined(question, recorded(call.get("output"), tally, role="assistant"))


def _system(trace: Mapping[str, Any], observations: Iterable[_Observation]) -> Any:
    for each in (trace, *observations):
        given = unquoted(each.get("input"))
        if isinstance(given, dict) and given.get("system"):
            return given["system"]
    return None


def _remember_calls(
    message: Mapping[str, Any], open_calls: dict[tuple[str, str], list[str]]
) -> None:
    for block in dicts_of(message.get("content")):
        if block.get("type") == "tool_use":
            key = (str(block.get("name")), dumps(block.get("input")))
            open_calls[key].append(str(block.get("id")))


def _tool(each: _Observation, open_calls: dict[tuple[str, str], list[str]]) -> dict[str, Any]:
    """A tool's observation has no call id: name and input tell which call it answers."""
    given = unquoted(each.get("input"))
    if isinstance(given, dict) and given.keys() == {"input"}:
        given = given["input"]
    waiting = open_calls[str(each.get("name")), dumps(given)]
    output = unquoted(each.get("output"))
    if isinstance(output, dict) and isinstance(output.get("content"), (list, str)):
        output = output["content"]
    failed = {"status": "error"} if each.get("level") == "ERROR" else {}
    call_id = waiting.pop(0) if waiting else f"observation-{each.get('id')}"
    return {"role": "tool", "tool_call_id": call_id, "content": output, **failed}


def _usage(call: _Observation) -> ImportedUsage | None:
    details = call.get("usageDetails")
    if not isinstance(details, dict) or count(details.get("input")) is None:
        return None
    read = details.get("cache_read_input_tokens", details.get("input_cache_read"))
    written = details.get("cache_creation_input_tokens", details.get("input_cache_creation"))
    return ImportedUsage(
        model=plain_model(call.get("model")) or "unknown",
        call_id=str(call.get("id")),
        at=text_of(call.get("startTime")),
        input_tokens=count(details.get("input")),
        cache_read_input_tokens=count(read),
        cache_creation_input_tokens=count(written),
        output_tokens=count(details.get("output")),
        claude=is_claude(call.get("model")),
    )
