"""From what was recorded to what a provider takes, one repair at a time, each counted."""

from __future__ import annotations

import base64

import pytest

from app.importers.repair import MISSING_RESULT, ORPHAN, START
from tests.pictures import picture
from tests.unit.importers.sources import (
    blocks,
    call,
    faults,
    read_json,
    result,
    shape,
    text,
    texts,
)

PNG = base64.b64encode(picture("png")).decode()


def body(*messages, **more):
    """A request body of (role, content) pairs."""
    turns = [{"role": role, "content": content} for role, content in messages]
    return {"model": "claude-opus-4-8", "max_tokens": 99, "messages": turns, **more}


def test_results_move_behind_their_calls_whatever_stands_between():
    imported = read_json(
        body(
            ("user", "hi"),
            ("assistant", [call("a"), call("b")]),
            ("user", [text("wait"), result("b")]),
            ("assistant", "yes"),
            ("user", [result("a")]),
        )
    )
    assert shape(imported)[1:] == [
        ("assistant", ["a", "b"]),
        ("user", ["a", "b", "wait"]),
        ("assistant", ["yes"]),
    ]
    assert faults(imported) == []


def test_a_call_without_a_result_gets_one_that_says_so():
    imported = read_json(body(("user", "hi"), ("assistant", [call("a")]), ("user", "stop")))
    assert imported.messages[2].blocks == [
        result("a", MISSING_RESULT, is_error=True),
        text("stop"),
    ]
    assert imported.report["repaired"] == {"missing_result_added": 1}


def test_a_result_without_a_call_becomes_text():
    imported = read_json(body(("user", [result("x", "found it")]), ("assistant", "ok")))
    assert texts(imported) == [ORPHAN, "found it", "ok"]
    assert imported.report["repaired"] == {"orphan_result_made_text": 1}


def test_an_empty_result_without_a_call_is_dropped():
    imported = read_json(body(("user", [result("x", ""), text("hi")])))
    assert texts(imported) == ["hi"]
    assert imported.report["dropped"] == {"empty_orphan_result": 1}


def test_the_second_result_of_a_call_is_dropped():
    imported = read_json(
        body(("user", "hi"), ("assistant", [call("a")]), ("user", [result("a"), result("a", "no")]))
    )
    assert blocks(imported, "tool_result") == [result("a")]
    assert imported.report["dropped"] == {"second_result_of_a_call": 1}


def test_ids_that_come_again_are_made_unique_on_both_sides():
    turn = [("assistant", [call("call_1")]), ("user", [result("call_1")])]
    imported = read_json(body(("user", "hi"), *turn, *turn, *turn))
    ids = [block["id"] for block in blocks(imported, "tool_use")]
    assert ids == ["call_1", "call_1_2", "call_1_3"]
    assert [block["tool_use_id"] for block in blocks(imported, "tool_result")] == ids


def test_ids_outside_the_pattern_are_renamed_on_both_sides():
    imported = read_json(
        body(("user", "hi"), ("assistant", [call("a.b:c")]), ("user", [result("a.b:c")]))
    )
    assert shape(imported)[1:] == [("assistant", ["a_b_c"]), ("user", ["a_b_c"])]


@pytest.mark.parametrize("name", ["files.read", "x" * 80, "größe", ""])
def test_names_outside_the_pattern_are_renamed_wherever_they_stand(name):
    imported = read_json(
        body(
            ("user", "hi"),
            ("assistant", [call("a", name)]),
            ("user", [result("a")]),
            tools=[{"name": name, "input_schema": {"type": "object"}}],
            tool_choice={"type": "tool", "name": name},
        )
    )
    [used] = blocks(imported, "tool_use")
    assert used["name"] == imported.tools[0]["name"] == imported.tool_choice["name"]
    assert 0 < len(used["name"]) <= 64
    assert faults(imported) == []


def test_names_that_become_equal_stay_apart():
    tools = [{"name": name, "input_schema": {"type": "object"}} for name in ("a.b", "a:b", "a_b")]
    imported = read_json(body(("user", "hi"), tools=tools))
    assert len({tool["name"] for tool in imported.tools}) == 3


def test_neighbours_become_one_message_and_empty_texts_go():
    imported = read_json(
        body(
            ("user", "one"), ("user", [text(" \n"), text("two")]), ("assistant", ""), ("user", "3")
        )
    )
    assert shape(imported) == [("user", ["one", "two", "3"])]
    assert imported.report["repaired"] == {"empty_text_dropped": 2, "neighbours_joined": 2}


def test_a_history_starts_with_a_user():
    imported = read_json(body(("assistant", "hello"), ("user", "hi")))
    assert texts(imported) == [START, "hello", "hi"]


def test_thinking_stays_untouched_but_not_at_the_end_of_a_turn():
    hidden = {"type": "thinking", "thinking": "", "signature": "c2ln"}
    redacted = {"type": "redacted_thinking", "data": "ZGF0YQ=="}
    imported = read_json(
        body(("user", "hi"), ("assistant", [hidden, redacted, text("yes"), hidden]), ("user", "?"))
    )
    assert imported.messages[1].blocks == [hidden, redacted, text("yes")]
    assert imported.report["dropped"] == {"thinking_without_answer": 1}


def test_cache_marks_are_taken_off_and_counted():
    mark = {"cache_control": {"type": "ephemeral"}}
    imported = read_json(
        body(
            ("user", [{**text("hi"), **mark}]),
            ("assistant", [call("a", cache_control="an argument")]),
            ("user", [result("a", [{**text("x"), **mark}], **mark)]),
            system=[{**text("You help."), **mark}],
            tools=[{"name": "Read", "input_schema": {"type": "object"}, **mark}],
        )
    )
    assert imported.report["repaired"] == {"cache_marks_removed": 5}
    assert blocks(imported, "tool_use")[0]["input"] == {"cache_control": "an argument"}
    assert not any("cache_control" in tool for tool in imported.tools)


def test_fields_that_the_provider_does_not_know_are_left_out():
    imported = read_json(body(("user", [{**text("hi"), "start_timestamp": "now"}])))
    assert imported.messages[0].blocks == [text("hi")]
    assert imported.report["dropped"] == {"unknown_block_fields": 1}


def test_blocks_of_an_unknown_type_are_kept_as_they_are():
    new = {"type": "hologram", "beam": [1, 2]}
    imported = read_json(body(("user", [text("hi"), new])))
    assert imported.messages[0].blocks[1] == new
    assert imported.report["kept_not_understood"] == {"block:hologram": 1}


def test_a_failed_result_holds_text_only_and_loses_nothing():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    imported = read_json(
        body(
            ("user", "hi"),
            ("assistant", [call("a")]),
            ("user", [result("a", [text("no"), image], is_error=True)]),
        )
    )
    assert imported.messages[2].blocks == [result("a", [text("no")], is_error=True), image]
    assert faults(imported) == []


def test_an_image_has_the_type_that_its_bytes_have():
    source = {"type": "base64", "media_type": "image/jpeg", "data": PNG}
    imported = read_json(body(("user", [{"type": "image", "source": source}])))
    assert blocks(imported, "image")[0]["source"]["media_type"] == "image/png"
    assert imported.report["repaired"] == {"media_type_corrected": 1}


@pytest.mark.parametrize(
    "source",
    [
        {"type": "base64", "media_type": "image/png", "data": "no base64 !"},
        {"type": "base64", "media_type": "image/png", "data": "AAAA"},
        {"type": "carrier pigeon"},
        None,
    ],
)
def test_what_is_no_image_is_named_in_its_place(source):
    imported = read_json(body(("user", [{"type": "image", "source": source}])))
    assert texts(imported) == ["[image: not in the import]"]


def test_halves_of_server_calls_are_dropped_but_not_the_one_that_still_runs():
    def search(call_id):
        return {"type": "server_tool_use", "id": call_id, "name": "web_search", "input": {}}

    def found(call_id):
        return {"type": "web_search_tool_result", "tool_use_id": call_id, "content": []}

    imported = read_json(
        body(
            ("user", "hi"),
            ("assistant", [search("srvtoolu_1"), found("srvtoolu_2"), text("and")]),
            ("user", "more"),
            ("assistant", [search("srvtoolu_3"), found("srvtoolu_3"), search("srvtoolu_4")]),
        )
    )
    assert [len(message.blocks) for message in imported.messages] == [1, 1, 1, 3]
    assert imported.report["dropped"] == {"half_of_a_server_call": 2}


def test_a_compaction_block_becomes_the_summary_of_what_stands_before_it():
    compaction = {"type": "compaction", "content": "They greeted."}
    imported = read_json(
        body(("user", "hi"), ("assistant", "hello"), ("user", "so"), ("assistant", [compaction]))
    )
    assert (imported.summary.text, imported.summary.covers) == ("They greeted.", 3)
    within = read_json(
        body(("user", "hi"), ("assistant", [text("one"), compaction, text("two")]), ("user", "so"))
    )
    assert within.summary.covers == 2
    assert shape(within)[1:] == [("assistant", ["one"]), ("assistant", ["two"]), ("user", ["so"])]
    first = read_json(body(("assistant", [compaction, text("yes")]), ("user", "go on")))
    assert first.summary is None
    assert texts(first) == ["They greeted.", "yes", "go on"]


def test_system_messages_stay_where_the_model_takes_them_else_become_text():
    turns = [("user", "hi"), ("system", [text("Be brief.")]), ("assistant", "yes")]
    assert [m.role for m in read_json(body(*turns)).messages] == ["user", "system", "assistant"]
    older = read_json(body(*turns, model="claude-opus-4-5", system="You help."))
    assert shape(older) == [("user", ["hi", "Be brief."]), ("assistant", ["yes"])]
    misplaced = read_json(body(("user", "a"), ("system", [text("b")]), ("user", "c"), max_tokens=9))
    assert shape(misplaced) == [("user", ["a", "b", "c"])]


def test_only_what_an_agent_can_be_told_is_kept_of_the_parameters():
    imported = read_json(
        body(
            ("user", "hi"),
            temperature=0.3,
            stream=True,
            stop_sequences=["END"],
            mcp_servers=[{"url": "https://x", "authorization_token": "REDACTED"}],
            metadata={"user_id": "user_1_account__session_550e8400-e29b-41d4-a716-446655440000"},
        )
    )
    assert imported.parameters == {"stop_sequences": ["END"]}
    assert imported.max_tokens == 99
    assert imported.source_session_id == "550e8400-e29b-41d4-a716-446655440000"
    assert imported.report["dropped"] == {
        "field:mcp_servers": 1,
        "field:metadata": 1,
        "field:stream": 1,
        "field:temperature": 1,
    }


def test_settings_that_the_model_does_not_take_are_left_out():
    tools = [{"name": "f", "input_schema": {"type": "object"}}]
    imported = read_json(
        body(
            ("user", "hi"),
            model="claude-sonnet-5-5",
            tools=tools,
            tool_choice={"type": "any"},
            thinking={"type": "enabled", "budget_tokens": 2000},
            stop_sequences=["END"],
        )
    )
    assert (imported.tool_choice, imported.parameters) == (None, {"stop_sequences": ["END"]})
    assert imported.report["dropped"] == {
        "not_taken_by_the_model:thinking": 1,
        "not_taken_by_the_model:tool_choice": 1,
    }


@pytest.mark.parametrize("wrapped", [lambda b: {"request": b}, lambda b: {"body": b}])
def test_a_wrapped_body_is_the_body(wrapped):
    plain = body(("user", "hi"))
    assert read_json(wrapped(plain)).fingerprint == read_json(plain).fingerprint
