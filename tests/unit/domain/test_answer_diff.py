"""Answers compared: word by word, and call by call."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain import answer_diff
from app.domain.answer_diff import answers_differ, hunks, similarity, text_of

TEXTS = st.text(alphabet="ab ,.\n日本", max_size=40)


@given(before=TEXTS, after=TEXTS)
def test_the_pieces_put_together_are_the_two_texts(before: str, after: str) -> None:
    found = hunks(before, after)

    assert "".join(each.before for each in found) == before
    assert "".join(each.after for each in found) == after
    for each in found:
        assert (each.op == "equal") == (each.before == each.after)
        assert (each.op == "insert") <= (not each.before)
        assert (each.op == "delete") <= (not each.after)
    assert all(one.op == "equal" or two.op == "equal" for one, two in itertools.pairwise(found))


@given(before=TEXTS, after=TEXTS)
def test_only_the_same_texts_are_wholly_similar(before: str, after: str) -> None:
    assert 0 <= similarity(before, after) <= 1
    assert (similarity(before, after) == 1) == (before == after)
    assert similarity(before, after) == similarity(after, before)


def test_very_long_texts_are_compared_by_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_diff, "_MOST_PAIRS", 4)

    found = hunks("one two\nthree four", "one two\nthree five")

    assert [(each.op, each.after) for each in found] == [
        ("equal", "one two\n"),
        ("replace", "three five"),
    ]
    (whole,) = hunks("a\nb\nc", "a\nb\nd")
    assert whole.op == "replace"


def test_thinking_and_ids_make_no_difference() -> None:
    before = [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "tool_use", "id": "1", "name": "ls"},
    ]
    after = [{"type": "tool_use", "id": "2", "name": "ls"}]

    assert answers_differ(before, after).change == "same"
    assert text_of(before) == ""
