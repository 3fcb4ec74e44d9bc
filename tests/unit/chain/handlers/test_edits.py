from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chain.handlers.edits import edited
from app.domain.files import MAX_FILE_CHARACTERS, NoRoom
from app.domain.tools import ToolError

LETTERS = st.text("ab\n", max_size=30)


def test_the_one_place_is_replaced():
    assert edited("one two three", "two", "2", everywhere=False) == "one 2 three"


@pytest.mark.parametrize(
    ("content", "old", "new", "said"),
    [
        ("abc", "", "x", "old_text is empty"),
        ("abc", "b", "b", "nothing to change"),
        ("abc", "x", "y", "old_text is not in the file"),
        ("a\nb\na\n", "a", "x", "more than once, in lines 1 and 3 first"),
        ("xaaax", "aa", "b", "more than once, in lines 1 and 1 first"),
        ("a\r\nb\r\n", "a\nb", "x", r"end in \\r\\n"),
    ],
)
def test_what_is_not_clear_is_refused_with_what_to_do(content, old, new, said):
    with pytest.raises(ToolError, match=said):
        edited(content, old, new, everywhere=False)


def test_everywhere_replaces_every_place_and_needs_one():
    assert edited("a-a-a", "a", "b", everywhere=True) == "b-b-b"
    with pytest.raises(ToolError, match="not in the file"):
        edited("a", "x", "y", everywhere=True)


def test_a_short_text_in_many_places_cannot_become_gigabytes():
    with pytest.raises(NoRoom, match="Spread it over several files"):
        edited("a" * MAX_FILE_CHARACTERS, "a", "b" * MAX_FILE_CHARACTERS, everywhere=True)


def test_a_file_may_become_as_long_as_a_file_may_be():
    content = "a" * (MAX_FILE_CHARACTERS - 1) + "b"

    assert len(edited(content, "b", "c", everywhere=False)) == MAX_FILE_CHARACTERS
    with pytest.raises(NoRoom):
        edited(content, "b", "cc", everywhere=False)


@given(LETTERS, st.text("xy", min_size=1, max_size=6), LETTERS, LETTERS)
def test_only_the_place_changes_and_both_ways_are_one(before, old, after, new):
    content = before + old + after

    alone = edited(content, old, new, everywhere=False)

    assert alone == before + new + after == edited(content, old, new, everywhere=True)


@given(LETTERS, st.text("ab\n", min_size=1, max_size=3), st.booleans())
def test_a_text_is_replaced_where_it_is_clear_which_is_meant(content, old, everywhere):
    places = sum(content.startswith(old, at) for at in range(len(content)))

    try:
        new = edited(content, old, "-", everywhere=everywhere)
    except ToolError:
        assert places == 0 or (places > 1 and not everywhere)
    else:
        assert new == content.replace(old, "-")
        assert places == 1 or everywhere


def test_a_text_of_one_letter_is_searched_in_one_pass():
    content = "a" * 1_000_000

    with pytest.raises(ToolError, match="not in the file"):
        edited(content, "a" * 500_000 + "b", "x", everywhere=False)
