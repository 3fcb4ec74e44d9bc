from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from app.domain.parts import PartId
from app.domain.previews import (
    MAX_CHARACTERS,
    MAX_LABEL_CHARACTERS,
    message_label,
    part_label,
    preview,
    preview_text,
)
from tests.history import call, result, text, thinking
from tests.pictures import image_block, picture, png_header

FAMILY = "👨‍👩‍👧‍👦"
FLAG = "🇩🇪"
SCOTLAND = "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
DIFFICULT = st.text(
    st.characters(codec=None, categories=None)
    | st.sampled_from(
        [*FAMILY, *FLAG, *SCOTLAND, "e", "\u0301", "\ufe0f", "\n", " ", "\u202e", *"क्ष"]
    ),
    max_size=450,
)
BLOCKS = st.lists(
    st.builds(text, DIFFICULT)
    | st.builds(result, DIFFICULT, DIFFICULT)
    | st.builds(call, DIFFICULT, DIFFICULT)
    | st.fixed_dictionaries({"type": DIFFICULT})
    | st.none(),
    max_size=4,
)


@given(DIFFICULT)
def test_a_preview_is_short_one_line_and_ends_in_a_whole_grapheme(given_text):
    shown = preview_text(given_text)

    assert_harmless(shown)
    if shown.endswith("…") and len(given_text) > MAX_CHARACTERS:
        whole = preview_text(given_text, 10_000)
        boundaries = {0, *(each.end() for each in regex.finditer(r"\X", whole))}
        assert whole.startswith(shown[:-1])
        fits = min(boundaries - {0}) < MAX_CHARACTERS
        assert len(shown[:-1]) in boundaries or whole[len(shown) - 1] == " " or not fits


@given(BLOCKS)
def test_whatever_the_blocks_are_the_preview_is_short_and_one_line(blocks):
    assert_harmless(preview("user", blocks, {"t1": "read_file"}))


@given(DIFFICULT)
def test_a_text_that_fits_is_shown_without_an_ellipsis(given_text):
    shown = preview_text(given_text, 100_000)

    assert preview_text(shown) == shown or len(shown) > MAX_CHARACTERS


def assert_harmless(shown: str) -> None:
    assert len(shown) <= MAX_CHARACTERS
    shown.encode()
    assert not regex.search(r"[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]", shown)


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("a" * 200, "a" * 200),
        ("a" * 201, "a" * 199 + "…"),
        ("a" * 199 + FAMILY, "a" * 199 + "…"),
        ("a" * 194 + FAMILY, "a" * 194 + "…"),
        ("a" * 193 + FAMILY, "a" * 193 + FAMILY),
        ("a" * 199 + FLAG, "a" * 199 + "…"),
        ("a" * 198 + FLAG, "a" * 198 + FLAG),
        ("a" * 198 + "e\u0301", "a" * 198 + "e\u0301"),
        ("a" * 198 + "e\u0301x", "a" * 198 + "…"),
        ("a" * 199 + "❤\ufe0f", "a" * 199 + "…"),
        ("a" * 150 + " " + "b" * 100, "a" * 150 + " " + "b" * 48 + "…"),
        ("a" * 198 + " b cd", "a" * 198 + "…"),
        ("e" + "\u0301" * 5000, "e" + "\u0301" * 198 + "…"),
        ("ab" + "\u0301" * 5000, "a…"),
        ("\n" * 500, ""),
        ("", ""),
    ],
    ids=range(16),
)
def test_the_cut_falls_between_graphemes(given_text, shown):
    assert preview_text(given_text) == shown


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("  one\r\n\n\ttwo\u2028three\x85four\u00a0five ", "one two three four five"),
        ("\x1b[31mred", "␛[31mred"),
        ("a\0b\x7f\x9b", "a\ufffdb\\u007f\\u009b"),
        ("safe\u202egnp.exe", "safe\\u202egnp.exe"),
        ("\u2066x\u2069\u200f", "\\u2066x\\u2069\\u200f"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("hi\U000e0068\U000e0069", "hi\\U000e0068\\U000e0069"),
        (f"{SCOTLAND} {FAMILY} می\u200cخواهم", f"{SCOTLAND} {FAMILY} می\u200cخواهم"),
        ("lone \ud83d half", "lone \ufffd half"),
    ],
)
def test_what_cannot_be_seen_is_made_visible(given_text, shown):
    assert preview_text(given_text) == shown


@pytest.mark.parametrize("unit", ["a", " ", "\n", "^", "漢", "\u0301", "\0", FAMILY])
def test_a_long_text_is_read_in_part(unit):
    assert len(preview_text(unit * 1_000_000)) <= MAX_CHARACTERS


def test_text_far_behind_white_space_is_found():
    assert preview_text("\n" * 100_000 + "here") == "here"


@pytest.mark.parametrize(
    ("block", "shown"),
    [
        (text("hello"), "hello"),
        (image_block(picture("png", 800, 600)), "[image 800×600 png]"),
        (image_block(picture("jpeg", 7, 9), "image/png"), "[image 7×9 jpeg]"),
        (image_block(png_header(0, 9)), "[image png]"),
        (image_block(b"garbage"), "[image image/png]"),
        (
            {"type": "image", "source": {"type": "url", "url": "https://x.test/a.png"}},
            "[image https://x.test/a.png]",
        ),
        ({"type": "image", "source": {"type": "file", "file_id": "file_1"}}, "[image file]"),
        (
            {
                "type": "document",
                "title": "report.pdf",
                "source": {"type": "base64", "data": "JVB"},
            },
            "[document report.pdf]",
        ),
        ({"type": "document", "source": {"type": "base64", "data": "JVBERi0="}}, "[document pdf]"),
        ({"type": "document", "source": {"type": "text", "data": "x"}}, "[document text]"),
        (call("t1"), "[tool_use read_file] path=/t1"),
        (
            {
                "type": "server_tool_use",
                "id": "srvtoolu_1",
                "name": "web_search",
                "input": {"query": "hango"},
            },
            "[server_tool_use web_search] query=hango",
        ),
        ({"type": "tool_use", "id": "t", "name": "now", "input": {}}, "[tool_use now]"),
        (result("t1", "line one\nline two"), "[tool_result for read_file] line one line two"),
        (result("gone", ""), "[tool_result for gone]"),
        (
            {**result("t1", "no such file"), "is_error": True},
            "[tool_result for read_file] error: no such file",
        ),
        (
            {**result("t1"), "content": [text("see"), image_block(picture("gif", 5, 4))]},
            "[tool_result for read_file] see [image 5×4 gif]",
        ),
        ({"type": "tool_result", "tool_use_id": "t1"}, "[tool_result for read_file]"),
        (thinking("secret thoughts"), "[thinking]"),
        ({"type": "redacted_thinking", "data": "abc"}, "[redacted_thinking]"),
        ({"type": "web_search_tool_result", "content": []}, "[web_search_tool_result]"),
        ({"type": "from_the_future", "x": 1}, "[from_the_future]"),
        ({"no": "type"}, "[unknown]"),
        ("no block", "[unknown]"),
    ],
)
def test_each_kind_of_block_has_its_mark(block, shown):
    assert preview("user", [block], {"t1": "read_file"}) == shown


def test_a_call_shows_what_it_is_called_with():
    block = {
        "type": "tool_use",
        "id": "t1",
        "name": "edit",
        "input": {"path": "/a b.py", "all": True, "n": 10**30, "to": None, "at": [1], "with": {}},
    }

    shown = preview("assistant", [block])

    assert shown == (f"[tool_use edit] path=/a b.py all=true n={10**30} to=null at=[…] with={{}}")


def test_an_assistant_that_speaks_and_calls_shows_both():
    assert preview("assistant", [thinking(), text("I'll look."), call("t1")]) == (
        "[thinking] I'll look. [tool_use read_file] path=/t1"
    )


def test_a_message_longer_than_the_line_ends_in_an_ellipsis():
    shown = preview("user", [text("a" * 150), text("b" * 150)])

    assert shown == "a" * 150 + " " + "b" * 48 + "…"


def test_a_message_that_fills_the_line_exactly_has_no_ellipsis():
    shown = preview("user", [text("a" * 150), text("b" * 49)])

    assert shown == "a" * 150 + " " + "b" * 49


def test_a_result_of_many_blocks_is_read_in_part():
    block = {**result("t1"), "content": [text("word")] * 100_000}

    assert preview("user", [block]) == "[tool_result for t1] " + "word " * 35 + "wor…"


def test_base64_is_never_shown():
    blocks = [image_block(b"\0" * 3_000_000), {**result("t"), "content": [image_block(b"\0" * 99)]}]

    assert "AAA" not in preview("user", blocks)


@pytest.mark.parametrize(
    ("part", "label"),
    [
        ("system:agent", "agent"),
        ("system:memory:/memories/AGENTS.md", "/memories/AGENTS.md"),
        ("system:memory:/memories/a:b", "/memories/a:b"),
        ("tool:read_file", "read_file"),
        ("summary", "summary"),
        ("synthetic:continue", "continue"),
    ],
)
def test_labels_are_what_people_call_the_part(part, label):
    assert part_label(PartId(part)) == label


def test_a_message_is_called_by_its_number_and_role():
    assert message_label(12, "assistant") == "#12 assistant"


def test_a_label_is_short_and_harmless():
    label = part_label(PartId("tool:" + "x" * 300 + "\u202e"))

    assert len(label) == MAX_LABEL_CHARACTERS
