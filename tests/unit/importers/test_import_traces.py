"""Tracing tools: the last call's history, or all steps; in the dialects that they record."""

from __future__ import annotations

import json

import pytest

from app.importers.reader import read
from tests.unit.importers.sources import blocks, faults, read_json, shape, source, texts

WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


def generation(given, output, **more):
    base = {"id": "g", "traceId": "t", "type": "GENERATION", "startTime": "1", "model": "gpt-5"}
    return {**base, "input": given, "output": output, **more}


def trace(*observations):
    return {"trace": {"id": "t", "name": "Trip"}, "observations": list(observations)}


@pytest.mark.parametrize("quoted", [0, 1, 2])
def test_values_are_read_however_often_they_were_quoted(quoted):
    given = [{"role": "user", "content": "hi"}]
    output = {"role": "assistant", "content": "hello"}
    for _ in range(quoted):
        given, output = json.dumps(given), json.dumps(output)
    imported = read_json(trace(generation(given, output)))
    assert (imported.format, imported.title) == ("langfuse", "Trip")
    assert shape(imported) == [("user", ["hi"]), ("assistant", ["hello"])]


@pytest.mark.parametrize(
    "messages",
    [
        [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "tool_calls": [{"id": "c", "name": "f", "args": {"a": 1}}]},
            {"role": "tool", "tool_call_id": "c", "content": "done"},
        ],
        [
            {"role": "user", "content": "hi"},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}}],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c", "content": "done"}],
            },
        ],
        [
            {"type": "human", "data": {"content": "hi"}},
            {
                "type": "ai",
                "data": {"content": "", "tool_calls": [{"id": "c", "name": "f", "args": {"a": 1}}]},
            },
            {"type": "tool", "data": {"content": "done", "tool_call_id": "c"}},
        ],
        [
            {"role": "user", "parts": [{"text": "hi"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": "done"}}]},
        ],
        [
            {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "hi"}]},
            {
                "kind": "response",
                "parts": [
                    {
                        "part_kind": "tool-call",
                        "tool_name": "f",
                        "args": {"a": 1},
                        "tool_call_id": "c",
                    }
                ],
            },
            {
                "kind": "request",
                "parts": [{"part_kind": "tool-return", "content": "done", "tool_call_id": "c"}],
            },
        ],
        [
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "tool-call", "toolCallId": "c", "toolName": "f", "args": {"a": 1}}
                ],
            },
            {
                "role": "tool",
                "content": [{"type": "tool-result", "toolCallId": "c", "result": "done"}],
            },
        ],
    ],
    ids=["openai", "anthropic", "langchain", "gemini", "pydantic-ai", "vercel"],
)
def test_every_dialect_says_the_same(messages):
    imported = read_json(trace(generation(messages, {"role": "assistant", "content": "ok"})))
    assert texts(imported) == ["hi", "ok"]
    [used], [result] = blocks(imported, "tool_use"), blocks(imported, "tool_result")
    assert (used["name"], used["input"]) == ("f", {"a": 1})
    assert result["content"] == "done"
    assert faults(imported) == []


def test_tool_definitions_among_the_messages_are_definitions():
    given = [{"role": "user", "content": "hi"}, {"role": "tool", "content": WEATHER}]
    imported = read_json(trace(generation(given, "fine")))
    assert [tool["name"] for tool in imported.tools] == ["weather"]
    assert texts(imported) == ["hi", "fine"]


def test_steps_without_history_are_put_together_in_time_order():
    imported = read([source("langfuse/01-claude-agent.json")])[0]
    assert imported.system_blocks == [
        "You are a friendly travel assistant who helps with weather information."
    ]
    for used, result in zip(
        blocks(imported, "tool_use"), blocks(imported, "tool_result"), strict=True
    ):
        assert used["input"]["city"] in result["content"][0]["text"]
    assert len(imported.usage) == 4


def test_an_ingestion_batch_is_merged_by_id():
    imported = read_json(
        {
            "batch": [
                {"type": "trace-create", "body": {"id": "t", "sessionId": "mine"}},
                {"type": "generation-create", "body": {"id": "g", "traceId": "t", "input": "hi"}},
                {"type": "generation-update", "body": {"id": "g", "traceId": "t", "output": "yes"}},
            ]
        }
    )
    assert imported.source_session_id == "mine"
    assert shape(imported) == [("user", ["hi"]), ("assistant", ["yes"])]


def test_langsmith_runs_are_merged_and_the_last_call_is_the_conversation():
    def run(number, **fields):
        return {
            "id": str(number),
            "trace_id": "t",
            "run_type": "llm",
            "dotted_order": str(number),
            **fields,
        }

    question = {"role": "user", "content": "hi"}
    answer = {"choices": [{"message": {"role": "assistant", "content": "ok"}}]}
    imported = read_json(
        {
            "post": [
                run(2, inputs={"messages": [question, question]}, outputs={}),
                run(1, inputs={"messages": [question]}),
                run(3, run_type="chain", inputs={"messages": []}),
            ],
            "patch": [run(2, outputs=answer)],
        }
    )
    assert imported.source_session_id == "t"
    assert texts(imported) == ["hi", "hi", "ok"]


def test_calls_that_langchain_holds_twice_come_once():
    [imported] = read([source("langsmith/02-langchain-messages.json")])
    assert imported.model == "claude-sonnet-4-5-20250929"
    assert len(blocks(imported, "tool_use")) == 2
    assert [use.input_total for use in imported.usage] == [6720, 13432, 13541]
