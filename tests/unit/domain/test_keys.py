"""API keys: their format, and what of one is ever shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain import keys


@pytest.fixture(scope="module")
def minted():
    return keys.mint()


def test_a_key_is_its_public_id_its_secret_and_a_checksum(minted):
    kind, public_id, secret = minted.text.split("_")

    assert (kind, public_id) == ("hk", minted.public_id)
    assert (len(public_id), len(secret)) == (12, 43 + 6)
    assert secret.isalnum()
    assert secret.isascii()


def test_the_key_itself_matches(minted):
    presented = keys.parse(minted.text)

    assert presented is not None
    assert presented.public_id == minted.public_id
    assert keys.matches(presented, minted.hash)


def test_another_key_does_not_match(minted):
    presented = keys.parse(keys.mint().text)

    assert presented is not None
    assert not keys.matches(presented, minted.hash)
    assert not keys.matches(presented, None)


def test_no_two_keys_are_alike():
    assert len({keys.mint().text for _ in range(100)}) == 100


@pytest.mark.parametrize("position", range(65))
def test_one_wrong_character_is_found_without_a_look_at_the_database(minted, position):
    other = "x" if minted.text[position] != "x" else "y"

    assert keys.parse(minted.text[:position] + other + minted.text[position + 1 :]) is None


@pytest.mark.parametrize(
    "change",
    [
        lambda _: "",
        lambda text: text + "\n",
        lambda text: " " + text,
        lambda text: text[:-1],
        lambda text: text + "0",
        lambda text: text.upper(),
        lambda text: text.replace("hk_", "sk_"),
        lambda text: text.replace(text[-1], "é"),
        lambda text: text.replace(text[-1], "٤"),
        lambda text: text.replace(text[-1], "\ud800"),
        lambda text: text.replace(text[-1], "\x00"),
        lambda _: "hk_" + "a" * 100_000,
    ],
)
def test_what_is_no_key_is_none(minted, change):
    assert keys.parse(change(minted.text)) is None


@given(st.text())
def test_any_text_is_a_key_or_none_and_never_an_error(text):
    keys.parse(text)


def test_a_new_key_shows_nothing_of_itself_by_accident(minted):
    assert minted.text not in repr(minted)
    assert minted.text not in f"{minted}"
