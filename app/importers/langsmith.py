"""Runs of LangSmith: exports and ingestion batches. A conversation is its last model call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.importers import traces
from app.importers.dialects import recorded
from app.importers.documents import Document
from app.importers.draft import Draft
from app.importers.openai_chat import choice_of, usage_of
from app.importers.report import Tally
from app.importers.shapes import dict_of, dicts_of, list_of

_THREAD = ("session_id", "thread_id", "conversation_id")


def is_export(document: Document) -> bool:
    """Whether it holds runs."""
    return any(_is_run(run) for run in _raw_runs(document))


def drafts(documents: Sequence[Document]) -> list[Draft]:
    """One conversation for each thread, or for each trace that is of no thread."""
    by_thread: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for run in _merged(run for document in documents for run in _raw_runs(document)):
        by_thread[_thread(run)].append(run)
    return [_draft(name, runs) for name, runs in by_thread.items()]


def _draft(thread: str, runs: list[dict[str, Any]]) -> Draft:
    tally = Tally()
    for run in runs:
        tally.record(f"run:{run.get('run_type')}")
    calls = [run for run in runs if run.get("run_type") == "llm"] or runs
    calls.sort(key=lambda run: str(run.get("dotted_order") or run.get("start_time") or ""))
    for call in calls:
        tally.model(_model(call))
    last = calls[-1]
    given = recorded(last.get("inputs"), tally)
    answer = recorded(last.get("outputs"), tally, role="assistant")
    tally.drop("run_without_answer", int(not answer.messages))
    params = dict_of(last, "extra", "invocation_params")
    said = traces.joined(given, answer)
    tools = said.tools or list_of(params.get("tools"))
    model = _model(last)
    draft = traces.draft_of("langsmith", said.messages, tools, model, tally)
    draft.tool_choice = choice_of(params) or choice_of(dict_of(last, "inputs"))
    outputs = dict_of(last, "outputs")
    usage = outputs.get("usage_metadata") or last.get("usage_metadata") or outputs.get("usage")
    traces.give_usage(draft, usage_of(usage, model, outputs.get("id"), last.get("end_time")))
    draft.source_session_id = thread
    draft.last_record_id = str(last.get("id"))
    return draft


def _raw_runs(document: Document) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = []
    for record in document.records:
        batch = [record.get(key) for key in ("post", "patch", "runs")]
        inner = [run for part in batch for run in dicts_of(part)]
        runs += inner or [record]
    return runs


def _merged(runs: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """A run that is created by one record and completed by another, as one."""
    merged: dict[str, dict[str, Any]] = {}
    for run in runs:
        known = merged.setdefault(str(run.get("id")), {})
        known |= {key: value for key, value in run.items() if value or key not in known}
    return list(merged.values())


def _is_run(run: Mapping[str, Any]) -> bool:
    return "run_type" in run and ("trace_id" in run or "dotted_order" in run)


def _thread(run: Mapping[str, Any]) -> str:
    metadata = dict_of(run, "extra", "metadata")
    found = next((metadata[key] for key in _THREAD if metadata.get(key)), run.get("trace_id"))
    return str(found or run.get("id"))


def _model(run: Mapping[str, Any]) -> Any:
    params = dict_of(run, "extra", "invocation_params")
    named = dict_of(run, "outputs").get("model") or dict_of(run, "inputs").get("model")
    named = named or params.get("model") or params.get("model_name")
    return named or dict_of(run, "extra", "metadata").get("ls_model_name")
