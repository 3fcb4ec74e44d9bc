from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.text import clean, clean_json

ANY_TEXT = st.text(st.characters(codec=None, categories=None))  # lone surrogates and NUL too
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("given_text", "kept"),
    [
        ("plain", "plain"),
        ("日本 é 👍", "日本 é 👍"),
        ("a\0b", "a\ufffdb"),
        ("bad \ud83d end", "bad \ufffd end"),
        ("\udcad", "\ufffd"),
        ("cut \ud83d", "cut \ufffd"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("two halves: \ud83d\ude00", "two halves: 😀"),
        ("six characters: \\u0000", "six characters: \\u0000"),
    ],
)
def test_only_what_cannot_be_stored_is_replaced(given_text, kept):
    assert clean(given_text) == kept


@given(ANY_TEXT)
def test_whatever_comes_in_can_be_stored(text):
    cleaned = clean(text)

    assert "\0" not in cleaned
    cleaned.encode()


@given(ANY_TEXT)
def test_cleaning_twice_changes_nothing(text):
    assert clean(clean(text)) == clean(text)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_good_text_is_the_same_object(text):
    assert clean(text) is text


@given(ANY_JSON)
def test_a_json_value_is_cleaned_all_through(value):
    text = repr(_strings(clean_json(value)))

    assert "\\x00" not in text
    assert "\\ud8" not in text


def test_keys_are_cleaned_and_keep_their_order():
    assert list(clean_json({"b\0": [{"\ud800": "\0"}], "a": 1}).items()) == [
        ("b\ufffd", [{"\ufffd": "\ufffd"}]),
        ("a", 1),
    ]


def _strings(value):
    if isinstance(value, dict):
        return [*value, *(_strings(item) for item in value.values())]
    if isinstance(value, list):
        return [_strings(item) for item in value]
    return [value] if isinstance(value, str) else []
