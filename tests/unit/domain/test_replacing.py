from __future__ import annotations

import pytest

from app.domain.replacing import CannotReplace, with_text
from tests.history import call, result, text, thinking

IMAGE = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}


def test_a_text_message_becomes_the_replacement():
    assert with_text("user", [text("one"), text("two")], "new") == [text("new")]


def test_calls_and_thinking_stay_untouched_and_in_place():
    blocks = [thinking(), text("I'll look"), call("k1"), call("k2")]

    assert with_text("assistant", blocks, "short") == [
        thinking(),
        text("short"),
        call("k1"),
        call("k2"),
    ]


def test_an_assistant_message_of_calls_alone_gets_its_text_before_them():
    blocks = [thinking(), call("k1")]

    assert with_text("assistant", blocks, "short") == [thinking(), text("short"), call("k1")]


def test_an_image_stays_beside_the_new_text():
    assert with_text("user", [IMAGE, text("what?")], "new") == [IMAGE, text("new")]
    assert with_text("user", [IMAGE], "new") == [IMAGE, text("new")]


def test_a_single_result_gets_the_replacement_as_its_content():
    failed = result("t1") | {"is_error": True}

    assert with_text("user", [failed, text("and?")], "short") == [
        failed | {"content": "short"},
        text("and?"),
    ]


def test_one_of_several_results_cannot_be_meant():
    with pytest.raises(CannotReplace):
        with_text("user", [result("t1"), result("t2")], "short")


def test_the_given_blocks_are_not_changed():
    blocks = [result("t1", "long")]

    with_text("user", blocks, "short")

    assert blocks == [result("t1", "long")]
