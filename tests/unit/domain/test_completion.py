from __future__ import annotations

import pytest

from app.domain.completion import (
    AGENT_KINDS,
    SESSION_KINDS,
    complete,
    entry_faults,
    history_faults,
)
from app.domain.messages import MessageRef
from app.domain.overrides import Override
from app.domain.replacing import MAX_REPLACEMENT_BYTES


def message(seq, role, calls="", results=""):
    return MessageRef(seq, role, 1, "", "0" * 64, calls, results, "")


HISTORY = [
    message(1, "user"),
    message(2, "assistant", calls="t1"),
    message(3, "user", results="t1"),
    message(4, "assistant"),
    message(5, "user"),
]


def exclude(*parts):
    return [Override(part, "exclude") for part in parts]


def codes(faults):
    return [fault.code for fault in faults]


@pytest.mark.parametrize(
    ("part", "kinds", "code"),
    [
        ("message:07", SESSION_KINDS, "bad_part"),
        ("MESSAGE:5", SESSION_KINDS, "bad_part"),
        ("summary ", SESSION_KINDS, "bad_part"),
        ("", AGENT_KINDS, "bad_part"),
        ("message:1", AGENT_KINDS, "wrong_target"),
        ("summary", AGENT_KINDS, "wrong_target"),
        ("tool:read_file", SESSION_KINDS, "wrong_target"),
        ("system:agent", SESSION_KINDS, "wrong_target"),
        ("synthetic:continue", SESSION_KINDS, "wrong_target"),
    ],
)
def test_a_part_that_the_target_does_not_take_is_refused(part, kinds, code):
    assert codes(entry_faults(exclude(part), kinds)) == [code]


def test_a_tool_is_never_replaced():
    wanted = [Override("tool:read_file", "replace", "another")]

    assert codes(entry_faults(wanted, AGENT_KINDS)) == ["tool_replace"]


def test_a_part_named_twice_is_refused_at_each_place():
    faults = list(entry_faults(exclude("message:1", "message:1"), SESSION_KINDS))

    assert [(fault.at, fault.code) for fault in faults] == [
        ("overrides[0]", "duplicate_part"),
        ("overrides[1]", "duplicate_part"),
    ]


@pytest.mark.parametrize("text", ["", "  \n\t", "\u200b", "\u2060 \ufeff", "\x00"])
def test_a_replacement_with_nothing_to_read_is_refused(text):
    wanted = [Override("message:1", "replace", text)]

    assert codes(entry_faults(wanted, SESSION_KINDS)) == ["empty_replacement"]


def test_a_replacement_has_a_largest_size_in_bytes():
    fits = "é" * (MAX_REPLACEMENT_BYTES // 2)

    assert codes(entry_faults([Override("message:1", "replace", fits)], SESSION_KINDS)) == []
    wanted = [Override("message:1", "replace", fits + "é")]
    assert codes(entry_faults(wanted, SESSION_KINDS)) == ["replacement_too_large"]


def test_completing_a_completed_set_adds_nothing():
    once = complete(exclude("message:2"), HISTORY)
    twice = complete(once.overrides, HISTORY)

    assert [each.part for each in once.added] == ["message:3"]
    assert twice.added == ()
    assert twice.overrides == once.overrides


def test_a_replaced_result_whose_call_leaves_is_excluded():
    wanted = [Override("message:2", "exclude"), Override("message:3", "replace", "short")]

    completed = complete(wanted, HISTORY)

    assert completed.overrides == tuple(exclude("message:2", "message:3"))


def test_a_set_that_leaves_no_message_of_the_user_is_refused():
    completed = complete(exclude("message:1", "message:3", "message:5"), HISTORY)

    assert codes(history_faults(completed, HISTORY)) == ["no_user_message"]


def test_a_set_that_leaves_an_assistant_message_in_front_is_refused():
    completed = complete(exclude("message:1"), HISTORY)

    assert codes(history_faults(completed, HISTORY)) == ["starts_with_assistant"]


def test_stale_parts_are_no_reason_to_refuse():
    completed = complete(exclude("message:999"), HISTORY)

    assert history_faults(completed, HISTORY) == []
