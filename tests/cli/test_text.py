from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from cli.text import columns, cut, visible, visible_json, visible_lines

ANY_TEXT = st.text(st.characters(exclude_categories=[]))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("user\u202egnp.exe", "user\\u202egnp.exe"),
        ("\u2066isolated\u2069", "\\u2066isolated\\u2069"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("line\u2028break", "line\\u2028break"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("half \ud83d", "half \\ud83d"),
        ("soft\xadhyphen", "soft\\xadhyphen"),
    ],
)
def test_what_a_terminal_obeys_or_hides_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    ["[/INST]", "[bold]x", "see [/a/b]", "system:memo:/x", "tool:warning:", ":memo:", "%s {x} \\n"],
)
def test_markup_is_only_text(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize("text", ["日本語", "👨‍👩‍👧‍👦", "e\u0301", "שלום", "می\u200cخواهم", "🇩🇪 ☺️"])
def test_languages_and_emoji_stay_as_they_are(text: str) -> None:
    assert visible(text) == text


@given(ANY_TEXT)
def test_no_control_or_half_character_is_left(text: str) -> None:
    for char in visible(text):
        assert unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp")
    assert "\x1b" not in visible_lines(text)


@given(ANY_TEXT)
def test_a_json_document_stays_the_same_document(text: str) -> None:
    shown = visible_json(json.dumps({"text": text}, ensure_ascii=False))

    assert json.loads(shown) == {"text": text}
    assert not set(shown) & {"\x1b", "\x9b", "\x7f", "\u202e", "\ud800"}


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("plain", 5),
        ("naïve – „quoted“ … ×", 20),
        ("日本", 4),
        ("👨‍👩‍👧‍👦", 2),
        ("🇩🇪", 2),
        ("e\u0301", 1),
        ("☺️", 2),
        ("한국", 4),
    ],
)
def test_width_is_that_of_the_terminal(text: str, width: int) -> None:
    assert columns(text) == width


def test_every_character_that_is_measured_in_short_has_that_width() -> None:
    ranges = [
        (0x20, 0x02FF),
        (0x2000, 0x2200),
        (0x3000, 0x30FF),
        (0x4E00, 0x9FFF),
        (0xA960, 0xFFFF),
    ]
    for first, last in ranges:
        for char in map(visible, map(chr, range(first, last + 1))):
            assert columns(char) == max(0, wcswidth(char)), ascii(char)


@given(st.text(st.one_of(st.characters(), st.sampled_from("日本ごケ한！ e\u0301…×"))))
def test_the_short_way_of_measuring_agrees_with_wcwidth(text: str) -> None:
    shown = visible(text)

    assert columns(shown) == max(0, wcswidth(shown))


@given(ANY_TEXT, st.integers(0, 40))
def test_a_cut_fits(text: str, width: int) -> None:
    shown = cut(visible(text), width)

    assert columns(shown) <= width
    assert shown == visible(text) or width == 0 or shown.endswith("…")


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("exactly", 7, "exactly"),
        ("one more", 7, "one mo…"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("ab👨‍👩‍👧‍👦cd", 4, "ab…"),
        ("ab👨‍👩‍👧‍👦cd", 5, "ab👨‍👩‍👧‍👦…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
    ],
)
def test_a_cut_never_splits_a_character(text: str, width: int, shown: str) -> None:
    assert cut(text, width) == shown
