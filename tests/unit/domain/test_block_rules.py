from __future__ import annotations

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.validity import check_blocks
from tests.history import call, result, text, thinking
from tests.pictures import image_block, picture, png_header

CACHE = {"cache_control": {"type": "ephemeral"}}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
PNG = image_block(picture("png"))
PDF = {
    "type": "document",
    "title": "report.pdf",
    "source": {
        "type": "base64",
        "media_type": "application/pdf",
        "data": base64.b64encode(b"%PDF-1.7 ...").decode(),
    },
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)


def broken(block):
    """Blocks like this one, with one value somewhere in it replaced by any other."""
    places = [*_places(block)]
    return st.builds(lambda place, value: _put(block, place, value), st.sampled_from(places), JSON)


def _places(value, path=()):
    yield path
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from _places(value[key], (*path, key))


def _put(value, path, new):
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = _put(value[path[0]], path[1:], new)
    return copy


def faults(role, content):
    return [(fault.at, fault.code) for fault in check_blocks(role, content, "messages[3]")]


@pytest.mark.parametrize(
    ("role", "content"),
    [
        ("user", "hi"),
        ("user", "\u200b"),
        ("user", [text("hi"), {**text("there"), **CACHE, "citations": None}]),
        ("user", [PNG, PDF]),
        ("user", [{"type": "image", "source": {"type": "url", "url": "https://x.test/a"}}]),
        ("user", [{"type": "document", "source": {"type": "file", "file_id": "file_1"}}]),
        (
            "user",
            [{"type": "document", "source": {"type": "content", "content": [text("a"), PNG]}}],
        ),
        ("user", [result("t1"), result("t2", "")]),
        ("user", [{"type": "tool_result", "tool_use_id": "t1"}]),
        ("user", [{**result("t1"), "content": [text("a"), PNG, PDF]}]),
        ("user", [{**result("t1"), "content": [{"type": "tool_reference", "tool_name": "x"}]}]),
        ("user", [{"type": "hologram", "anything": 1}]),
        ("assistant", [thinking(), text("a"), call("toolu_01-x")]),
        ("assistant", [thinking(words="")]),
        ("assistant", [{"type": "redacted_thinking", "data": "x"}, text("a")]),
        ("assistant", [SEARCH, FOUND, {**text("a"), "citations": [{"type": "char_location"}]}]),
        ("assistant", [SEARCH]),
        ("assistant", [{"type": "compaction", "content": "summary"}]),
        ("system", "be brief"),
        ("system", [text("be brief")]),
    ],
)
def test_what_the_provider_takes_passes(role, content):
    assert faults(role, content) == []


@pytest.mark.parametrize(
    "content",
    [
        [text("first"), result("t1")],  # the chain puts results first
        [{**result("t1"), "content": [PNG], "is_error": True}],  # … and leaves the image out
    ],
)
def test_what_the_chain_repairs_passes_the_door(content):
    assert faults("user", content) == []


@pytest.mark.parametrize("role", ["tool", "developer", "", None, 5, ["user"], {"a": 1}])
def test_a_role_that_is_none_is_refused(role):
    assert faults(role, "hi") == [("messages[3].role", "role_unknown")]


@pytest.mark.parametrize("words", ["", " ", "\n\t ", "\u00a0\u2003"])
@pytest.mark.parametrize("role", ["user", "assistant", "system"])
def test_a_text_of_nothing_is_refused_wherever_it_stands(role, words):
    assert faults(role, words) == [("messages[3].content", "text_empty")]
    assert faults(role, [text("a"), text(words)]) == [("messages[3].content[1].text", "text_empty")]


def test_a_text_of_nothing_inside_a_result_is_refused():
    block = {**result("t1"), "content": [text("a"), text("\n")]}

    assert faults("user", [block]) == [("messages[3].content[0].content[1].text", "text_empty")]


@pytest.mark.parametrize(
    ("role", "content", "at", "code"),
    [
        ("user", [], "", "content_empty"),
        ("user", None, "", "field_invalid"),
        ("user", {"type": "text"}, "", "field_invalid"),
        ("user", [None], "[0]", "block_type"),
        ("user", [{}], "[0]", "block_type"),
        ("user", [{"type": 5}], "[0]", "block_type"),
        ("user", [{"type": "text"}], "[0].text", "field_missing"),
        ("user", [text("a") | {"text": 5}], "[0].text", "field_invalid"),
        ("user", [text("a") | {"part": "message:1"}], "[0].part", "field_unknown"),
        ("user", [text("a") | {"MARK secret\n": 1}], "[0]", "field_unknown"),
        (
            "user",
            [text("a") | {"cache_control": "yes"}],
            "[0].cache_control",
            "cache_control_invalid",
        ),
        (
            "user",
            [text("a") | {"cache_control": {"type": "ephemeral", "ttl": "2h"}}],
            "[0].cache_control",
            "cache_control_invalid",
        ),
        ("user", [text("a") | {"citations": [{}]}], "[0].citations", "user_citations"),
        ("user", [call("t1")], "[0]", "block_role"),
        ("user", [thinking()], "[0]", "block_role"),
        ("user", [{**result("t1"), "content": [call("t2")]}], "[0].content[0]", "block_role"),
        ("user", [{**result("t1"), "is_error": "no"}], "[0].is_error", "field_invalid"),
        ("user", [{**result("t1"), "content": None}], "[0].content", "field_invalid"),
        ("assistant", [result("t1")], "[0]", "block_role"),
        ("assistant", [PNG], "[0]", "block_role"),
        ("assistant", [PDF], "[0]", "assistant_document"),
        ("assistant", [call("t 1")], "[0].id", "tool_use_id_format"),
        ("assistant", [call("é")], "[0].id", "tool_use_id_format"),
        ("assistant", [call("t\n")], "[0].id", "tool_use_id_format"),
        ("assistant", [call("t" * 257)], "[0].id", "tool_use_id_format"),
        ("assistant", [{**SEARCH, "id": "toolu_1"}], "[0].id", "tool_use_id_format"),
        ("assistant", [call("t1") | {"input": []}], "[0].input", "tool_input_not_object"),
        ("assistant", [call("t1") | {"input": None}], "[0].input", "tool_input_not_object"),
        ("assistant", [call("t1") | {"input": '{"a": 1}'}], "[0].input", "tool_input_not_object"),
        ("assistant", [thinking(signature="")], "[0].signature", "thinking_signature"),
        ("assistant", [{"type": "thinking", "thinking": "x"}], "[0].signature", "field_missing"),
        ("assistant", [FOUND, SEARCH], "[0]", "server_result_orphan"),
        ("assistant", [{"type": "compaction", "content": "s"}, text("a")], "", "compaction_place"),
        ("system", [PNG], "[0]", "system_msg_content"),
        ("system", [{"type": "hologram"}], "[0]", "system_msg_content"),
    ],
)
def test_what_no_request_could_hold_is_refused_at_its_place(role, content, at, code):
    assert faults(role, content) == [(f"messages[3].content{at}", code)]


@pytest.mark.parametrize(
    ("block", "at", "code"),
    [
        (image_block(picture("jpeg"), "image/png"), ".media_type", "image_media_type"),
        (image_block(b"no image at all"), ".data", "image_media_type"),
        (image_block(picture("png"), "image/bmp"), ".media_type", "field_invalid"),
        (image_block(png_header(8001, 10)), ".data", "image_too_large"),
        (image_block(png_header(8, 8) + b"\0" * 7_900_000), ".data", "image_too_large"),
        (
            PNG | {"source": {**PNG["source"], "data": "data:image/png;base64,AAAA"}},
            ".data",
            "base64_invalid",
        ),
        (PNG | {"source": {**PNG["source"], "data": ""}}, ".data", "base64_invalid"),
        (PNG | {"source": {"type": "ftp"}}, ".type", "field_invalid"),
        (PNG | {"source": {"type": "url"}}, ".url", "field_missing"),
        (PNG | {"source": "x"}, "", "field_invalid"),
        (PDF | {"source": {**PDF["source"], "data": "AAAA"}}, ".data", "document_media_type"),
        (PDF | {"source": {**PDF["source"], "data": "%PDF-"}}, ".data", "base64_invalid"),
        (
            PDF | {"source": {"type": "text", "media_type": "text/plain", "data": " "}},
            ".data",
            "text_empty",
        ),
        (PDF | {"source": {"type": "content", "content": ""}}, ".content", "text_empty"),
        (PDF | {"source": {"type": "content", "content": [PDF]}}, ".content[0]", "block_role"),
    ],
)
def test_media_are_what_they_say_and_within_the_limits(block, at, code):
    assert faults("user", [block]) == [(f"messages[3].content[0].source{at}", code)]


def test_the_largest_image_passes():
    assert faults("user", [image_block(png_header(8000, 8000))]) == []


def test_a_message_of_garbage_gets_a_readable_number_of_faults():
    assert len(check_blocks("user", [{}] * 100_000, "messages[0]")) == 100


def test_a_fault_says_nothing_of_the_content():
    content = [{"type": "MARK", "MARK": 1}, text("a") | {"MARK x": "MARK"}, call("MARK MARK")]

    assert "MARK" not in repr(check_blocks("user", content, "messages[0]"))


@pytest.mark.parametrize(
    "block",
    [
        {**text("a"), **CACHE, "citations": []},
        {**PNG, "transformations": {"oversized_image": "error"}},
        PDF,
        {"type": "document", "source": {"type": "content", "content": [text("a"), PNG]}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a"}},
        {"type": "search_result", "source": "a", "title": "b", "content": [text("c")]},
        {**result("t1"), "content": [text("a"), PNG, PDF], "is_error": True},
        call("t1"),
        SEARCH,
        FOUND,
        thinking(),
        {"type": "compaction", "content": "summary"},
    ],
    ids=lambda block: block["type"],
)
@settings(max_examples=40)  # of each block
@given(st.data())
def test_no_content_makes_the_check_fail(block, data):
    role = data.draw(st.sampled_from(["user", "assistant", "system"]))

    for fault in check_blocks(role, [data.draw(broken(block)), block], "messages[0]"):
        assert fault.at.startswith("messages[0].content")
        fault.at.encode()


@given(JSON, JSON)
def test_no_json_at_all_makes_the_check_fail(role, content):
    check_blocks(role, content, "messages[0]")
