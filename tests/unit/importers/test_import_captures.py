"""Exchanges that a proxy recorded: grouped, rebuilt from streams, stripped of every secret."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict

from tests.unit.importers.sources import blocks, read_data, read_json, read_lines, shape, texts

SECRETS = {"x-api-key": "sk-ant-REDACTED-1", "cookie": "session=REDACTED-2"}
TITLE = "Write a short title for this conversation."


def exchange(*turns, answer="ok", url="https://api.example/v1/messages?beta=true", **more):
    """A call with the texts of its messages, users' and assistants' in turn."""
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(turns)]
    body = {"model": "claude-opus-4-8", "max_tokens": 99, "messages": messages, **more}
    response = {
        "status_code": 200,
        "headers": {"request-id": "REDACTED-3"},
        "body": {
            "id": f"msg_{len(turns)}",
            "model": "claude-opus-4-8",
            "content": [{"type": "text", "text": answer}],
            "usage": {"input_tokens": len(turns), "output_tokens": 1},
        },
    }
    request = {"method": "POST", "url": url, "headers": SECRETS, "body": body}
    return {"request": request, "response": response}


def test_calls_that_continue_one_another_are_one_conversation():
    [imported] = read_lines(
        exchange("a", answer="b"), exchange("a", "b", "c", answer="d"), exchange("a", "b", "c")
    )
    assert texts(imported) == ["a", "b", "c", "ok"]
    assert [(use.message, use.input_tokens) for use in imported.usage] == [(1, 1), (3, 3)]


def test_interleaved_conversations_are_told_apart():
    found = read_lines(
        exchange("a", answer="b"),
        exchange("x", answer="y"),
        exchange("a", "b", "c"),
        exchange("x", "y", "z"),
    )
    assert [texts(each) for each in found] == [["a", "b", "c", "ok"], ["x", "y", "z", "ok"]]


def test_what_changes_from_call_to_call_is_not_compared():
    reminder = {"type": "text", "text": "<system-reminder>It is late.</system-reminder>"}
    marked = [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}, reminder]
    first = exchange("a", answer="b", system="Monday")
    second = exchange(marked, "b", "c", system="Tuesday")
    assert len(read_lines(first, second)) == 1


def test_a_request_that_goes_back_is_a_conversation_of_its_own():
    found = read_lines(
        exchange("a", answer="b"), exchange("a", "b", "c"), exchange("a", "b", "other")
    )
    assert [texts(each)[-2] for each in found] == ["c", "other"]


def test_side_calls_of_the_client_are_left_out():
    counting = exchange("a", url="https://api.example/v1/messages/count_tokens")
    found = read_lines(
        exchange("quota", max_tokens=1),
        exchange("a", system=TITLE),
        counting,
        exchange("a"),
    )
    assert [texts(each) for each in found] == [["a", "ok"]]
    dropped = found[0].report["dropped"]
    assert (dropped["side_call"], dropped["other_request"]) == (2, 1)


def test_an_answer_that_failed_is_missing_and_said_so():
    failed = exchange("a")
    failed["response"] = {"status_code": 529, "body": {"type": "error", "error": {}}}
    [imported] = read_lines(failed)
    assert texts(imported) == ["a"]
    assert imported.report["dropped"] == {"answer_missing_or_failed": 1}


def _stream(*events):
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)


def test_a_streamed_answer_is_put_together():
    def delta(index, **fields):
        return {"type": "content_block_delta", "index": index, "delta": fields}

    def start(index, **block):
        return {"type": "content_block_start", "index": index, "content_block": block}

    message = {"id": "m", "model": "claude-opus-4-8", "usage": {"input_tokens": 7}}
    recorded = exchange("a")
    recorded["response"] = {
        "status_code": 200,
        "body_raw": _stream(
            {"type": "message_start", "message": message},
            start(0, type="thinking", thinking="", signature=""),
            delta(0, type="thinking_delta", thinking="h"),
            delta(0, type="thinking_delta", thinking="m"),
            delta(0, type="signature_delta", signature="c2ln"),
            {"type": "ping"},
            start(1, type="tool_use", id="t1", name="f", input={}),
            delta(1, type="input_json_delta", partial_json='{"a"'),
            delta(1, type="input_json_delta", partial_json=": 1}"),
            start(2, type="tool_use", id="t2", name="g", input={}),
            {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 3}},
            {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 9}},
        ),
    }
    [imported] = read_lines(recorded)
    assert [block["input"] for block in blocks(imported, "tool_use")] == [{"a": 1}, {}]
    assert blocks(imported, "thinking") == [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    ]
    assert (imported.usage[0].input_tokens, imported.usage[0].output_tokens) == (7, 9)


def test_a_har_file_is_a_capture():
    one = exchange("a", answer="b")
    body = json.dumps(one["response"]["body"]).encode()
    entry = {
        "startedDateTime": "2026-01-01T00:00:00Z",
        "request": {
            "method": "POST",
            "url": "https://api.example/v1/messages",
            "headers": [{"name": "Authorization", "value": "Bearer REDACTED-4"}],
            "postData": {"text": json.dumps(one["request"]["body"])},
        },
        "response": {"content": {"text": base64.b64encode(body).decode(), "encoding": "base64"}},
    }
    imported = read_json({"log": {"entries": [entry]}})
    assert shape(imported) == [("user", ["a"]), ("assistant", ["b"])]
    assert "REDACTED" not in json.dumps(asdict(imported))


def test_no_header_key_or_user_of_a_capture_is_anywhere_in_the_import():
    user = {"user_id": "user_REDACTED-5_session_550e8400-e29b-41d4-a716-446655440000"}
    found = read_data(json.dumps(exchange("a", metadata=user)))
    assert "REDACTED" not in json.dumps([asdict(each) for each in found])
    assert found[0].source_session_id == "550e8400-e29b-41d4-a716-446655440000"


def test_two_users_of_one_proxy_are_two_conversations():
    other = exchange("a", "ok", "c")
    other["request"]["headers"] = {"x-api-key": "another"}
    assert len(read_lines(exchange("a"), other)) == 2
