import random
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.tokens.pieces import PIECE, pieces
from app.tokens.ranks import ranks


def tokens(text: str) -> int:
    loaded = ranks()
    assert loaded is not None
    return len(loaded.encoding.encode_ordinary(text))


def sample(alphabet: str, size: int) -> str:
    return "".join(random.Random(1).choices(alphabet, k=size))


LONG = {
    "prose": "The quick brown fox doesn't jump; it sleeps (2 hours, 30 minutes).\n\n" * 1500,
    "code": "    def get(self, key: str) -> int:\n\t\treturn self._items[key]  # ok\n" * 1500,
    "json without blanks": '{"id":12345,"name":"alpha-beta","tags":["x","y_z"],"ok":true},' * 1600,
    "blanks": " " * 100_000,
    "lines": "\r\n" * 50_000,
    "letters": sample(string.ascii_letters, 100_000),
    "base64": sample(string.ascii_letters + string.digits + "+/", 100_000),
    "digits": sample(string.digits, 100_000),
    "mixed blanks": sample(" \t\n", 100_000),
    "Chinese": "漢字" * 50_000,
}


@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE])
def test_a_text_within_the_limit_stays_whole(size: int) -> None:
    assert list(pieces("a" * size)) == ["a" * size]


@pytest.mark.parametrize("name", LONG)
def test_pieces_are_the_text_and_none_is_too_long(name: str) -> None:
    cut = list(pieces(LONG[name]))

    assert "".join(cut) == LONG[name]
    assert max(map(len, cut)) <= PIECE
    assert min(map(len, cut)) > 0


@pytest.mark.parametrize("name", LONG)
def test_cutting_changes_a_count_by_at_most_half_a_thousandth(name: str) -> None:
    whole = tokens(LONG[name])

    assert abs(sum(map(tokens, pieces(LONG[name]))) - whole) <= 0.0005 * whole


@pytest.mark.parametrize("name", ["prose", "code", "json without blanks"])
def test_where_words_end_cutting_changes_nothing(name: str) -> None:
    assert sum(map(tokens, pieces(LONG[name]))) == tokens(LONG[name])


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=" \n\t\r.,'_-aB1é漢", min_size=300, max_size=300))
def test_a_cut_is_where_a_token_ends(tail: str) -> None:
    text = "x " * ((PIECE - 200) // 2) + tail
    first, *rest = pieces(text)

    if first[-1].isalnum() and not rest[0][0].isalnum():
        assert tokens(first) + tokens("".join(rest)) == tokens(text)
