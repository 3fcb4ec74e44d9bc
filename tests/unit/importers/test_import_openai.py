"""Chat completions and what is built on them: pairs, arguments, parts, choices."""

from __future__ import annotations

import base64

import pytest

from app.importers.blocks import BROKEN_ARGUMENTS
from tests.pictures import picture
from tests.unit.importers.sources import blocks, faults, read_data, read_json, shape, text, texts

PNG = base64.b64encode(picture("png")).decode()
USER = {"role": "user", "content": "hi"}


def calls(*given, content=None, **more):
    """An assistant's message with calls of (id, name, arguments)."""
    listed = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments in given
    ]
    return {"role": "assistant", "content": content, "tool_calls": listed, **more}


def tool(call_id, content="done", **more):
    return {"role": "tool", "tool_call_id": call_id, "content": content, **more}


def test_results_of_parallel_calls_become_one_message_in_the_order_of_the_calls():
    imported = read_json(
        {"messages": [USER, calls(("a", "f", "{}"), ("b", "g", "{}")), tool("b"), USER, tool("a")]}
    )
    assert shape(imported)[1:] == [("assistant", ["a", "b"]), ("user", ["a", "b", "hi"])]
    assert faults(imported) == []


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        (None, {}),
        ('{"a": ', {BROKEN_ARGUMENTS: '{"a": '}),
        ("[1]", {BROKEN_ARGUMENTS: "[1]"}),
    ],
)
def test_arguments_are_an_object_or_kept_under_one_key(arguments, given):
    imported = read_json({"messages": [USER, calls(("a", "f", arguments)), tool("a")]})
    assert blocks(imported, "tool_use")[0]["input"] == given
    broken = BROKEN_ARGUMENTS in given
    assert imported.report["repaired"].get("broken_arguments_kept", 0) == broken


def test_system_and_developer_messages_lead_and_later_ones_become_text():
    imported = read_json(
        {
            "model": "gpt-5",
            "messages": [
                {"role": "system", "content": "One."},
                {"role": "developer", "content": "Two."},
                USER,
                {"role": "system", "content": "Three."},
            ],
        }
    )
    assert imported.system_blocks == ["One.", "Two."]
    assert shape(imported) == [("user", ["hi", "Three."])]


def test_the_old_function_calls_pair_by_name():
    def called(name):
        return {
            "role": "assistant",
            "content": None,
            "function_call": {"name": name, "arguments": ""},
        }

    imported = read_json(
        {
            "messages": [
                USER,
                called("f"),
                {"role": "function", "name": "f", "content": "one"},
                called("f"),
                {"role": "function", "name": "f", "content": "two"},
            ]
        }
    )
    assert [block["content"] for block in blocks(imported, "tool_result")] == ["one", "two"]
    assert "missing_result_added" not in imported.report["repaired"]


def test_parts_of_every_kind_are_mapped_or_named():
    pdf = base64.b64encode(b"%PDF-1.7 ...").decode()
    parts = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{PNG}"}},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
        {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{pdf}"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA"}},
    ]
    imported = read_json({"messages": [{"role": "user", "content": parts}, calls()]})
    kinds = [block["type"] for block in imported.messages[0].blocks]
    assert kinds == ["text", "image", "image", "document", "text"]
    assert imported.messages[0].blocks[1]["source"]["media_type"] == "image/png"
    assert imported.report["dropped"] == {"audio_or_video": 1}


def test_refusals_are_text_and_foreign_reasoning_is_dropped():
    answer = {"role": "assistant", "content": None, "refusal": "No.", "reasoning_content": "hm"}
    imported = read_json({"messages": [{"role": "system", "content": "s"}, USER, answer]})
    assert texts(imported) == ["hi", "[refusal] No."]
    assert imported.report["dropped"] == {"reasoning_of_another_provider": 1}


def test_tools_choice_and_format_are_translated():
    schema = {"type": "object", "properties": {}}
    imported = read_json(
        {
            "model": "anthropic/claude-opus-4-8",
            "messages": [USER],
            "tools": [
                {"type": "function", "function": {"name": "a.b", "parameters": schema}},
                {"type": "function", "function": {"name": "c", "description": "C", "strict": True}},
                {"type": "function", "function": {"name": "d", "parameters": {"anyOf": [schema]}}},
            ],
            "tool_choice": {"type": "function", "function": {"name": "a.b"}},
            "parallel_tool_calls": False,
            "max_completion_tokens": 77,
            "stop": "END",
            "response_format": {"type": "json_schema", "json_schema": {"schema": schema}},
        }
    )
    assert imported.tools == [
        {"name": "a_b", "input_schema": schema},
        {"name": "c", "description": "C", "input_schema": schema},
        {"name": "d", "input_schema": {"type": "object"}},
    ]
    assert imported.tool_choice == {
        "type": "tool",
        "name": "a_b",
        "disable_parallel_tool_use": True,
    }
    assert imported.parameters == {
        "stop_sequences": ["END"],
        "output_config": {"format": {"type": "json_schema", "schema": schema}},
    }
    assert (imported.model, imported.max_tokens) == ("claude-opus-4-8", 77)


def test_the_answer_of_a_stored_completion_ends_it_and_has_its_usage():
    usage = {"prompt_tokens": 100, "completion_tokens": 5}
    details = {"prompt_tokens_details": {"cached_tokens": 60}, "cache_creation_input_tokens": 10}
    imported = read_json(
        {
            "model": "claude-opus-4-8",
            "messages": [USER],
            "choices": [{"message": {"role": "assistant", "content": "hello"}}],
            "usage": {**usage, **details},
        }
    )
    assert texts(imported) == ["hi", "hello"]
    [use] = imported.usage
    assert (use.input_tokens, use.cache_read_input_tokens, use.input_total) == (30, 60, 100)
    assert use.message == 1


def test_counts_of_another_tokenizer_are_not_taken_for_claudes():
    imported = read_json(
        {
            "model": "gpt-5",
            "messages": [USER],
            "choices": [{"message": {"role": "assistant", "content": "hello"}}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 5},
        }
    )
    assert imported.usage[0].claude is False
    assert imported.report["first_call_input_tokens"] is None


def test_files_of_many_chats_give_one_session_each():
    chats = [{"messages": [{"role": "system", "content": str(n)}, USER]} for n in range(3)]
    found = read_data("\n".join(str(chat).replace("'", '"') for chat in chats))
    assert [each.system_blocks for each in found] == [["0"], ["1"], ["2"]]


def test_items_of_the_responses_api_pair_by_call_id():
    imported = read_json(
        {
            "object": "list",
            "data": [
                {
                    "type": "message",
                    "role": "user",
                    "content": [{"type": "input_text", "text": "hi"}],
                },
                {"type": "reasoning", "encrypted_content": "x"},
                {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": 1}'},
                {"type": "function_call_output", "call_id": "c", "output": "done"},
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "ok"}],
                },
            ],
        }
    )
    assert imported.format == "openai-responses"
    assert shape(imported) == [
        ("user", ["hi"]),
        ("assistant", ["c"]),
        ("user", ["c"]),
        ("assistant", ["ok"]),
    ]
    assert imported.messages[0].blocks == [text("hi")]


def test_litellm_rows_keep_their_json_in_strings():
    imported = read_json(
        {
            "call_type": "acompletion",
            "model": "bedrock/us.anthropic.claude-opus-4-8-v1:0",
            "messages": '[{"role": "user", "content": "hi"}]',
            "response": '{"choices": [{"message": {"content": "hello"}}]}',
            "metadata": '{"user_api_key": "hash"}',
        }
    )
    assert (imported.format, imported.model) == ("litellm", "claude-opus-4-8")
    assert texts(imported) == ["hi", "hello"]
