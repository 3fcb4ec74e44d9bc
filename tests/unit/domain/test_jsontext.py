from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.jsontext import MAX_NESTING, dumps, loads, loads_strict
from app.errors import MalformedBody

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=20,
)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"{} {}",
        b"{'a': 1}",
        b'{"a": 1, "a": 2}',
        b'{"x": {"\\u0061": 1, "a": 1}}',
        b'{"a": NaN}',
        b"[Infinity]",
        b"-Infinity",
        b"1e999",
        b"[-1e400]",
        b'"\xff"',
        b'"\xed\xa0\x80"',
        b"\xef\xbb\xbf{}",
        '{"a": 1}'.encode("utf-16"),
        b"1" * 5000,
        b'"a\nb"',
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 500 + b"1" + b"}" * 500,
        b"[" * (MAX_NESTING + 1) + b"]" * (MAX_NESTING + 1),
    ],
    ids=lambda body: repr(body[:16]),
)
def test_what_is_not_plain_json_is_malformed(body):
    with pytest.raises(MalformedBody):
        loads_strict(body)


@given(st.binary() | st.text(st.sampled_from('{}[]",:\\u01eE.-nulNaI \x00')).map(str.encode))
def test_no_bytes_raise_anything_else(body):
    try:
        loads_strict(body)
    except MalformedBody:
        return


@given(JSON)
def test_what_was_written_is_read_back(value):
    assert loads_strict(dumps(value).encode()) == value
    assert loads(dumps(value)) == value


def test_the_deepest_nesting_that_is_taken():
    body = b"[" * MAX_NESTING + b"]" * MAX_NESTING

    assert dumps(loads_strict(body)).encode() == body


def test_brackets_inside_texts_are_no_nesting():
    assert loads_strict(b'["' + b"[{" * 1000 + b'"]') == ["[{" * 1000]


def test_integers_keep_all_their_digits():
    digits = "123456789012345678901234567890"

    assert dumps(loads_strict(f"[{digits},-{digits}]".encode())) == f"[{digits},-{digits}]"
    assert dumps(loads(digits)) == digits


def test_other_numbers_are_read():
    assert loads_strict(b"[1.5,-2e3,0]") == [1.5, -2000.0, 0]


def test_an_escaped_lone_surrogate_is_read_for_the_cleaner():
    assert loads_strict(b'"\\ud83d"') == "\ud83d"
    assert loads_strict(b'"\\ud83d\\ude00"') == "😀"


def test_json_is_compact_in_the_order_of_the_keys_and_not_escaped():
    assert (
        dumps({"z": [1, 1.5, None], "a": "é漢😀</\u2028"})
        == '{"z":[1,1.5,null],"a":"é漢😀</\u2028"}'
    )


def test_a_malformed_body_is_described_without_its_content():
    with pytest.raises(MalformedBody) as caught:
        loads_strict(b'{"secret": MARK-SECRET}')

    assert caught.value.detail == "Line 1, column 12: Expecting value."


@given(
    st.dictionaries(st.text(st.characters(codec="utf-8"), min_size=1), st.integers(), min_size=1)
)
def test_a_key_that_comes_twice_is_refused_wherever_it_stands(value):
    key = json.dumps(next(iter(value)))
    body = json.dumps(value)[:-1] + f", {key}: 0}}"

    with pytest.raises(MalformedBody):
        loads_strict(f"[[{body}]]".encode())
