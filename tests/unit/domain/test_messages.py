from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.blocks import index_blocks, tool_names
from app.domain.messages import message_sha256, prepare
from app.tokens.estimator import estimator_for
from tests.history import call, result, text, thinking
from tests.pictures import image_block, picture

ESTIMATOR = estimator_for("claude-opus-5-5")
ANY_TEXT = st.text(st.characters(codec=None, categories=None))
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


def test_a_text_becomes_one_text_block():
    message = prepare("user", "hello", ESTIMATOR)

    assert message.content == '[{"type":"text","text":"hello"}]'
    assert message.preview == "hello"
    assert message.counted_by == ESTIMATOR.id
    assert message.tokens == ESTIMATOR.message("user", [text("hello")]).tokens


def test_blocks_keep_their_order_of_keys_and_their_characters():
    block = {"text": "日本 é <&> \u2028", "type": "text"}

    assert prepare("user", [block], ESTIMATOR).content == (
        '[{"text":"日本 é <&> \u2028","type":"text"}]'
    )


def test_the_hash_covers_role_and_content():
    message = prepare("user", "hello", ESTIMATOR)

    expected = hashlib.sha256(b'user\n[{"type":"text","text":"hello"}]').hexdigest()
    assert message.sha256 == expected == message_sha256("user", message.content)
    assert prepare("assistant", "hello", ESTIMATOR).sha256 != expected


@given(ANY_TEXT, ANY_TEXT)
def test_whatever_a_message_holds_it_can_be_stored(words, key):
    message = prepare("user", [{"type": "text", "text": words, key: words}], ESTIMATOR)

    message.content.encode()
    assert "\0" not in "".join(str(json.loads(message.content)))
    message.preview.encode()


@pytest.mark.parametrize(
    ("words", "stored"),
    [
        ("a\0b", "a\ufffdb"),
        ("bad \ud83d end", "bad \ufffd end"),
        ("six characters: \\u0000", "six characters: \\u0000"),
        ("<|endoftext|> <|im_start|>", "<|endoftext|> <|im_start|>"),
    ],
)
def test_what_is_stored_counted_and_shown_is_the_same_text(words, stored):
    message = prepare("user", words, ESTIMATOR)

    assert json.loads(message.content) == [text(stored)]
    assert message.preview == stored
    assert message.tokens == ESTIMATOR.message("user", [text(stored)]).tokens


def test_integers_beyond_64_bits_are_kept():
    block = {"type": "tool_use", "id": "t1", "name": "add", "input": {"n": 10**30}}

    assert str(10**30) in prepare("assistant", [block], ESTIMATOR).content


def test_blocks_of_unknown_types_are_kept_and_marked():
    message = prepare("user", [{"type": "hologram", "depth": 3}], ESTIMATOR)

    assert message.content == '[{"type":"hologram","depth":3}]'
    assert "unknown" in message.marks.split()
    assert message.preview == "[hologram]"


def test_a_count_that_is_a_guess_is_marked():
    block = {"type": "image", "source": {"type": "url", "url": "https://x.test/a.png"}}

    assert prepare("user", [block], ESTIMATOR).marks == "image rough"


def test_results_are_named_by_the_calls_that_they_answer():
    names = tool_names([call("t1", "read_file"), SEARCH, text("x"), {"type": "tool_use"}])

    assert names == {"t1": "read_file", "srvtoolu_1": "web_search"}
    assert prepare("user", [result("t1", "ok")], ESTIMATOR, names).preview == (
        "[tool_result for read_file] ok"
    )


@pytest.mark.parametrize(
    ("role", "blocks", "calls", "results", "marks"),
    [
        ("user", [text("hi")], "", "", ""),
        ("assistant", [text("a"), call("t1"), call("t2")], "t1 t2", "", ""),
        ("user", [result("t2"), result("t1")], "", "t2 t1", ""),
        ("user", [result("t1"), text("b")], "", "t1", "beside_results"),
        ("user", [text("b"), result("t1")], "", "t1", "beside_results results_late"),
        (
            "assistant",
            [SEARCH, FOUND],
            "~srvtoolu_1",
            "~srvtoolu_1",
            "ends_server_result server_tool",
        ),
        (
            "assistant",
            [{"type": "mcp_tool_use", "id": "m1"}, call("t1")],
            "~m1 t1",
            "",
            "server_tool",
        ),
        ("assistant", [thinking(), text("a")], "", "", "thinking"),
        ("assistant", [text("a"), thinking()], "", "", "ends_thinking thinking"),
        ("assistant", [{"type": "compaction", "content": "s"}], "", "", "compaction"),
        ("user", [{**text("a"), "cache_control": {"type": "ephemeral"}}], "", "", "cache"),
        ("user", [{"type": "document"}], "", "", "document"),
        (
            "user",
            [{**result("t1"), "content": [image_block(picture("png"))], "is_error": True}],
            "",
            "t1",
            "error_media image",
        ),
        (
            "user",
            [{**result("t1"), "content": [text("a"), {"type": "document"}]}],
            "",
            "t1",
            "document",
        ),
        ("user", ["no block", {"type": 5}, {}], "", "", "unknown"),
    ],
)
def test_a_row_keeps_the_ids_and_the_marks_of_its_blocks(role, blocks, calls, results, marks):
    index = index_blocks(role, blocks)

    assert (index.tool_use_ids, index.tool_result_ids, index.marks) == (calls, results, marks)
