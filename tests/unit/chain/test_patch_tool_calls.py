from __future__ import annotations

import pytest

from app.chain.middlewares.patch_tool_calls import answered, ending_on_user
from app.domain.blocks import SERVER
from app.tokens.estimator import estimator_for
from tests.history import assistant, refs, result, text, tool_result, tool_use, user

ESTIMATOR = estimator_for("claude-sonnet-4-5")


def parts_of(turns, repair=answered):
    return [each.part for each in repair(refs(turns, ESTIMATOR), ESTIMATOR)]


def test_a_whole_history_is_left_as_it_is():
    messages = refs([user("hi"), tool_use("t1"), tool_result("t1"), assistant("done")], ESTIMATOR)

    assert answered(messages, ESTIMATOR) is messages


def test_a_call_at_the_end_gets_an_error_result():
    messages = answered(refs([user("hi"), tool_use("t1")], ESTIMATOR), ESTIMATOR)

    added = messages[-1]
    assert added.part == "synthetic:result:t1"
    assert added.role == "user"
    assert added.made is not None
    assert added.made.blocks[0]["is_error"] is True
    assert added.tokens is not None
    assert added.tokens > 0


def test_a_call_that_a_user_text_follows_is_answered_right_behind_it():
    found = parts_of([user("hi"), tool_use("t1"), user("are you there?")])

    assert found == ["message:1", "message:2", "synthetic:result:t1", "message:3"]


def test_only_the_unanswered_one_of_two_parallel_calls_is_answered():
    found = parts_of([user("hi"), tool_use("a", "b"), tool_result("a")])

    assert found == ["message:1", "message:2", "message:3", "synthetic:result:b"]


def test_results_spread_over_several_rows_count_as_one_turn():
    turns = [user("hi"), tool_use("a", "b"), tool_result("a"), tool_result("b"), assistant("ok")]

    assert parts_of(turns) == [f"message:{n}" for n in range(1, 6)]


def test_every_interrupted_turn_of_a_history_is_answered():
    turns = [user("1"), tool_use("a"), user("2"), tool_use("b"), user("3"), tool_use("c", "d")]

    assert parts_of(turns) == [
        "message:1",
        "message:2",
        "synthetic:result:a",
        "message:3",
        "message:4",
        "synthetic:result:b",
        "message:5",
        "message:6",
        "synthetic:result:c",
        "synthetic:result:d",
    ]


def test_a_result_of_a_turn_over_several_assistant_rows_belongs_behind_the_last():
    found = parts_of([user("hi"), tool_use("a"), assistant("and"), user("so?")])

    assert found == ["message:1", "message:2", "message:3", "synthetic:result:a", "message:4"]


@pytest.mark.parametrize("last", [assistant("done"), tool_use("t1")])
def test_a_history_that_ends_on_the_assistant_is_continued(last):
    messages = ending_on_user(refs([user("hi"), last], ESTIMATOR), ESTIMATOR)

    assert messages[-1].part == "synthetic:continue"
    assert messages[-1].preview == "[Continue]"


def test_a_history_that_ends_on_the_user_is_not_continued():
    messages = refs([user("hi")], ESTIMATOR)

    assert ending_on_user(messages, ESTIMATOR) is messages


def test_a_turn_paused_in_a_server_tool_is_neither_answered_nor_continued():
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    messages = refs([user("hi"), ("assistant", [search])], ESTIMATOR)

    assert messages[-1].tool_use_ids == f"{SERVER}srvtoolu_1"
    assert answered(messages, ESTIMATOR) is messages
    assert ending_on_user(messages, ESTIMATOR) is messages


def test_a_session_without_messages_stays_empty():
    assert ending_on_user(answered([], ESTIMATOR), ESTIMATOR) == []


def test_text_beside_results_counts_as_their_turn():
    turns = [user("hi"), tool_use("a", "b"), ("user", [result("a"), text("and?")])]

    assert parts_of(turns)[-1] == "synthetic:result:b"
