from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chain.handlers.lines import MAX_LINE_CHARACTERS, lines_of, listed, page
from app.domain.tools import ToolError

ROOM = 100_000
TEXTS = st.text(st.sampled_from("ab\n\r\u2028\x85é漢😀 "), max_size=200)


def numbered(text):
    """The numbered lines of an answer, and where it says to go on."""
    *shown, said = [each for each in text.split("\n") if each != "[Lines end in \\r\\n.]"]
    onward = re.search(r"offset=(\d+)", said)
    return [line.split("\t", 1) for line in shown], int(onward[1]) if onward else None


def test_a_page_numbers_its_lines_and_says_where_to_go_on():
    said = page("a\nb\nc\nd\n", 2, 2, ROOM)

    assert said == "     2\tb\n     3\tc\n[Lines 2 to 3 of 4. Go on with offset=4.]"


def test_the_last_page_says_that_it_is_the_last():
    assert page("a\nb\n", 2, 10, ROOM) == "     2\tb\n[End of the file: 2 lines.]"


def test_an_empty_file_is_said_to_be_empty():
    assert page("", 1, 10, ROOM) == "The file is empty."


@pytest.mark.parametrize(("offset", "limit"), [(0, 1), (-1, 1), (1, 0), (1, -5)])
def test_lines_before_the_first_are_refused(offset, limit):
    with pytest.raises(ToolError, match="counted from 1"):
        page("a\n", offset, limit, ROOM)


def test_an_offset_behind_the_end_is_told_how_long_the_file_is():
    with pytest.raises(ToolError, match="The file has 2 lines"):
        page("a\nb\n", 3, 1, ROOM)


def test_a_long_line_is_cut_and_said_to_be():
    said = page("x" * (MAX_LINE_CHARACTERS + 1234), 1, 1, ROOM)

    assert f"\t{'x' * MAX_LINE_CHARACTERS}… [line cut: 1,234 more characters; grep" in said


def test_a_page_without_room_still_shows_a_line():
    assert page("aaaa\nbbbb\n", 1, 10, 1).startswith("     1\taaaa\n[Lines 1 to 1 of 2.")


def test_other_line_ends_are_named():
    assert page("a\r\nb\r\n", 1, 10, ROOM).endswith("lines.]\n[Lines end in \\r\\n.]")


@given(TEXTS, st.integers(1, 7), st.integers(1, 120))
def test_the_pages_of_a_file_are_the_file(content, limit, room):
    seen, offset = [], 1 if content else None

    while offset is not None:
        shown, onward = numbered(page(content, offset, limit, room))
        assert 1 <= len(shown) <= limit
        assert onward in (None, offset + len(shown))
        seen += shown
        offset = onward

    assert [int(number) for number, _ in seen] == list(range(1, len(seen) + 1))
    assert [line for _, line in seen] == [each.removesuffix("\r") for each in lines_of(content)]


@given(TEXTS)
def test_lines_put_together_again_are_the_text(content):
    again = "\n".join(lines_of(content))

    assert content in (again, again + "\n")


LINES = st.lists(st.text(st.sampled_from("ab é漢"), max_size=20), min_size=1, max_size=8)


@given(LINES, st.integers(1, 9), st.integers(0, 200))
def test_a_list_is_whole_or_its_beginning_with_how_much_that_is(lines, most, room):
    shown = listed(lines, most, room, lambda some, total: f"[{some} of {total}]").split("\n")

    if shown != lines:
        *shown, cut = shown
        assert cut == f"[{len(shown)} of {len(lines)}]"
        assert shown == lines[: len(shown)]
        assert len(shown) < len(lines)
    assert 1 <= len(shown) <= most
    assert len(shown) == 1 or sum(len(each.encode()) + 1 for each in shown) <= room


def test_megabytes_are_read_in_one_pass():
    content = "漢字 and more\n" * 200_000

    assert page(content, 199_999, 5, ROOM).endswith("[End of the file: 200,000 lines.]")
