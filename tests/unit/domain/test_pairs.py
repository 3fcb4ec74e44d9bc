from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.domain.messages import MessageRef
from app.domain.pairs import partners
from app.domain.validity.history import check_history


def message(seq, role, calls="", results=""):
    return MessageRef(seq, role, 1, "", "0" * 64, calls, results, "")


SPREAD = [
    message(1, "user"),
    message(2, "assistant", calls="p1 p2"),
    message(3, "user", results="p1"),
    message(4, "user", results="p2"),
    message(5, "assistant"),
    message(6, "user"),
]


def added_to(messages, *excluded):
    return {each.part for each in partners(messages, excluded)}


def test_parallel_calls_over_several_rows_leave_as_one_group():
    assert added_to(SPREAD, "message:3") == {"message:2", "message:4"}
    assert added_to(SPREAD, "message:4") == {"message:2", "message:3"}
    assert added_to(SPREAD, "message:2") == {"message:3", "message:4"}


def test_a_partner_names_the_message_and_the_call_that_it_goes_with():
    found = partners(SPREAD, ["message:3"])

    assert [(each.part, each.goes_with, each.call) for each in found] == [
        ("message:2", "message:3", "p1"),
        ("message:4", "message:2", "p2"),
    ]


def test_a_message_without_calls_goes_alone():
    assert added_to(SPREAD, "message:1", "message:6") == set()


def test_a_call_without_a_result_goes_alone():
    messages = [message(1, "user"), message(2, "assistant", calls="t1")]

    assert added_to(messages, "message:2") == set()


def test_parts_that_are_not_there_connect_to_nothing():
    assert added_to(SPREAD, "message:99", "summary") == set()


def test_one_user_message_that_answers_two_turns_joins_both():
    # Not a history that can be sent; the closure still has to take all of it.
    messages = [
        message(1, "user"),
        message(2, "assistant", calls="a"),
        message(3, "assistant", calls="b"),
        message(4, "user", results="a b"),
    ]

    assert added_to(messages, "message:2") == {"message:3", "message:4"}


@st.composite
def histories(draw):
    """Valid histories: turns with any number of parallel calls, results cut into rows anyhow."""
    messages, ids = [], 0

    def row(role, calls=(), results=()):
        messages.append(
            message(len(messages) + 1, role, " ".join(calls), " ".join(results)),
        )

    row("user")
    for _ in range(draw(st.integers(0, 6))):
        calls = [f"t{ids + n}" for n in range(draw(st.integers(0, 4)))]
        ids += len(calls)
        row("assistant", calls=calls)
        results = draw(st.permutations(calls))
        while results:
            size = draw(st.integers(1, len(results)))
            row("user", results=results[:size])
            results = results[size:]
        if not calls:
            row("user")
    return messages


@given(histories(), st.data())
def test_whatever_leaves_takes_its_partners_and_nothing_is_left_over(messages, data):
    parts = [each.part for each in messages]
    wanted = data.draw(st.lists(st.sampled_from(parts), unique=True))

    gone = {*wanted, *added_to(messages, *wanted)}

    assert added_to(messages, *gone) == set()
    kept = [each for each in messages if each.part not in gone]
    codes = {fault.code for fault in check_history(kept, open_end=True)}
    assert codes <= {"first_not_user", "messages_empty"}
