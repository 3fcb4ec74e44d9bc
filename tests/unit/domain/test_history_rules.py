from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.domain.catalogue import facts_for
from app.domain.messages import prepare
from app.domain.validity import HistoryCheck, check_appended, check_history, check_request
from app.tokens.estimator import estimator_for
from tests.history import assistant, call, refs, result, text, thinking, tool_result, tool_use, user

ESTIMATOR = estimator_for("claude-sonnet-4-5")
FACTS = facts_for("claude-opus-5-5")

SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
MCP_CALL = {"type": "mcp_tool_use", "id": "m1", "name": "x", "server_name": "s", "input": {}}
MCP_RESULT = {"type": "mcp_tool_result", "tool_use_id": "m1", "content": []}
SUMMARY = ("assistant", [{"type": "compaction", "content": "before that …"}])
NOTE = ("system", [text("be brief")])


def codes(*turns, open_end=False, strict=False):
    faults = check_history(refs(turns, ESTIMATOR), open_end=open_end, strict=strict)
    return [fault.code for fault in faults]


def appended(stored, *new, used=()):
    messages = [prepare(role, blocks, ESTIMATOR) for role, blocks in new]
    faults = check_appended(refs(stored, ESTIMATOR), used, messages)
    return [(fault.at, fault.code) for fault in faults]


@pytest.mark.parametrize(
    "turns",
    [
        [user("hi")],
        [user("hi"), assistant("hello")],
        [user("a"), user("b"), assistant("c"), assistant("d"), user("e")],
        [user("hi"), tool_use("t1"), tool_result("t1"), assistant("done")],
        [user("hi"), tool_use("p1", "p2"), tool_result("p1"), tool_result("p2"), assistant("x")],
        [user("hi"), tool_use("p1"), tool_use("p2"), tool_result("p2", "p1"), assistant("x")],
        [user("hi"), tool_use("t1"), ("user", [result("t1"), text("and")]), assistant("x")],
        [user("hi"), tool_use("t1"), tool_result("t1"), user("and"), assistant("x")],
        [user("hi"), ("assistant", [SEARCH, FOUND, text("found")]), user("thanks")],
        [user("hi"), ("assistant", [SEARCH]), ("assistant", [FOUND, text("found")])],
        [user("hi"), ("assistant", [MCP_CALL, MCP_RESULT, text("found")]), user("thanks")],
        [SUMMARY, user("go on"), assistant("yes")],
        [user("hi"), NOTE, assistant("hello")],
        [user("hi"), NOTE, NOTE],
        [user("hi"), tool_use("t1"), tool_result("t1"), NOTE, assistant("done")],
        [user("hi"), ("assistant", [SEARCH, FOUND]), NOTE, assistant("found")],
        [user("hi"), ("assistant", [thinking(), text("hello")]), user("bye")],
    ],
)
def test_histories_that_the_provider_takes(turns):
    assert codes(*turns, strict=True) == []


def test_a_server_tool_runs_on_while_the_user_answers_a_call_from_within_it():
    turns = [
        user("hi"),
        ("assistant", [SEARCH, call("t1")]),
        tool_result("t1"),
        ("assistant", [FOUND, text("done")]),
        user("thanks"),
    ]

    assert codes(*turns, strict=True) == []


def test_a_turn_that_was_paused_inside_a_server_tool_may_end_open():
    assert codes(user("hi"), ("assistant", [text("wait"), SEARCH]), strict=True) == []


@pytest.mark.parametrize(
    ("turns", "found"),
    [
        ([], ["messages_empty"]),
        ([assistant("hello")], ["first_not_user"]),
        ([NOTE, user("hi")], ["first_not_user"]),
        ([user("hi"), tool_use("t1")], ["tool_use_unanswered"]),
        ([user("hi"), tool_use("t1"), user("and")], ["tool_use_unanswered"]),
        ([user("hi"), tool_use("t1"), user("and"), assistant("x")], ["tool_use_unanswered"]),
        (
            [user("hi"), tool_use("a", "b"), tool_result("a"), assistant("x")],
            ["tool_use_unanswered"],
        ),
        ([user("hi"), tool_use("a", "b"), user("x"), assistant("y")], ["tool_use_unanswered"] * 2),
        (
            [user("hi"), tool_use("a"), tool_result("a"), assistant("x"), tool_result("a")],
            ["tool_result_orphan"],
        ),
        ([tool_result("gone")], ["tool_result_orphan"]),
        ([user("hi"), tool_use("a"), tool_result("a", "a")], ["tool_result_twice"]),
        ([user("hi"), tool_use("a"), tool_result("a"), tool_result("a")], ["tool_result_twice"]),
        ([user("hi"), tool_use("a", "a"), tool_result("a")], ["tool_use_id_twice"]),
        (
            [user("hi"), tool_use("a"), tool_result("a"), tool_use("a"), tool_result("a")],
            ["tool_use_id_twice"],
        ),
        ([user("hi"), ("assistant", [FOUND, text("x")])], ["server_result_orphan"]),
        ([user("hi"), ("assistant", [SEARCH]), user("hurry")], ["text_after_result_server"]),
        (
            [
                user("hi"),
                ("assistant", [SEARCH, call("t1")]),
                ("user", [result("t1"), text("hurry")]),
            ],
            ["text_after_result_server"],
        ),
        ([user("hi"), SUMMARY], ["compaction_place"]),
        ([SUMMARY, assistant("x"), user("y")], ["compaction_place"]),
    ],
)
def test_histories_that_no_request_could_hold(turns, found):
    assert codes(*turns) == found


@pytest.mark.parametrize(
    ("turns", "found"),
    [
        (
            [user("hi"), tool_use("t1"), ("user", [text("and"), result("t1")])],
            ["tool_result_not_first"],
        ),
        ([user("hi"), tool_use("t1"), user("and"), tool_result("t1")], ["tool_result_not_first"]),
        ([user("hi"), assistant("hello"), NOTE], ["system_msg_place"]),
        ([user("hi"), NOTE, user("and")], ["system_msg_place"]),
        ([user("hi"), tool_use("t1"), NOTE, tool_result("t1")], ["system_msg_place"] * 2),
        ([user("hi"), ("assistant", [text("x"), thinking()]), user("y")], ["thinking_last"]),
    ],
)
def test_what_the_chain_repairs_is_found_by_the_strict_check_alone(turns, found):
    assert codes(*turns, strict=True) == found
    assert codes(*turns) == []


def test_a_system_message_between_parallel_results_stands_wrong():
    turns = [user("hi"), tool_use("a", "b"), tool_result("a"), NOTE, assistant("x")]

    assert codes(*turns, strict=True) == ["system_msg_place", "tool_use_unanswered"]


def test_a_server_tool_that_was_interrupted_is_found_once():
    turns = [user("hi"), ("assistant", [SEARCH]), user("hurry"), assistant("x"), user("y")]

    assert codes(*turns) == ["text_after_result_server"]


def test_the_place_of_a_fault_is_the_part():
    faults = check_history(refs([user("hi"), tool_use("t1"), user("x")], ESTIMATOR))

    assert [fault.at for fault in faults] == ["message:2"]


def test_calls_may_stay_open_at_the_very_end_only():
    assert codes(user("hi"), tool_use("a", "b"), open_end=True) == []
    assert codes(user("hi"), tool_use("a", "b"), tool_result("a"), open_end=True) == []
    assert codes(user("hi"), tool_use("a"), user("are you there?"), open_end=True) == [
        "tool_use_unanswered"
    ]


def test_open_calls_are_those_that_wait_for_the_user():
    check = HistoryCheck()
    for ref in refs([user("hi"), ("assistant", [SEARCH, call("a"), call("b")])], ESTIMATOR):
        check.feed(ref.role, ref.tool_use_ids, ref.tool_result_ids, ref.marks)
    check.feed("user", tool_result_ids="a")

    assert check.open_calls == ("b",)


class TestAppending:
    STORED = (user("hi"), tool_use("a", "b"))

    def test_results_may_come_one_by_one(self):
        assert appended(self.STORED, tool_result("a")) == []
        assert appended([*self.STORED, tool_result("a")], tool_result("b"), user("next")) == []

    def test_text_cannot_come_before_all_results_are_there(self):
        assert appended(self.STORED, user("next")) == [
            ("messages[0]", "tool_use_unanswered"),
            ("messages[0]", "tool_use_unanswered"),
        ]
        assert appended(self.STORED, tool_result("a"), user("next")) == [
            ("messages[1]", "tool_use_unanswered")
        ]

    def test_text_and_results_may_come_together_in_any_order(self):
        assert appended(self.STORED, user("next"), tool_result("a", "b")) == []

    def test_a_fault_names_the_message_that_brought_it(self):
        new = [tool_result("a", "b"), assistant("x"), tool_result("c"), tool_use("a")]

        assert appended(self.STORED, *new, used={"a"}) == [
            ("messages[2]", "tool_result_orphan"),
            ("messages[3]", "tool_use_id_twice"),
        ]

    def test_faults_of_what_is_stored_are_not_those_of_what_is_new(self):
        broken = [user("hi"), tool_use("a"), user("interrupted"), assistant("x")]

        assert appended(broken, user("next"), tool_use("b")) == []

    def test_a_call_that_the_session_used_long_ago_is_refused(self):
        assert appended([user("hi")], tool_use("old"), used={"old"}) == [
            ("messages[0]", "tool_use_id_twice")
        ]

    def test_a_server_result_may_answer_a_call_from_before_the_tail(self):
        within = [tool_result("t1"), tool_use("t2"), tool_result("t2")]  # SEARCH called t1 and t2

        assert appended(within, ("assistant", [FOUND]), used={"~srvtoolu_1"}) == []
        assert appended(within, ("assistant", [FOUND])) == [("messages[0]", "server_result_orphan")]

    def test_a_new_session_starts_with_a_user(self):
        assert appended([], assistant("x")) == [("messages[0]", "first_not_user")]
        assert appended([], user("hi")) == []


CLIENT_IDS = st.sampled_from("abc")
SERVER_IDS = st.sampled_from(["srvtoolu_1", "srvtoolu_2"])
TEXTS = st.just(text("x"))
TURNS = st.lists(
    st.tuples(
        st.just("assistant"),
        st.tuples(  # calls before results, as a row cannot tell
            st.lists(st.builds(call, CLIENT_IDS), max_size=2),
            st.lists(st.builds(lambda each: {**SEARCH, "id": each}, SERVER_IDS), max_size=1),
            st.lists(
                st.builds(lambda each: {**FOUND, "tool_use_id": each}, SERVER_IDS), max_size=1
            ),
            st.lists(TEXTS | st.just(thinking()) | st.just(SUMMARY[1][0]), max_size=1),
        ).map(lambda groups: [block for group in groups for block in group] or [text("x")]),
    )
    | st.tuples(
        st.just("user"), st.lists(TEXTS | st.builds(result, CLIENT_IDS), min_size=1, max_size=3)
    )
    | st.just(NOTE),
    min_size=1,
    max_size=9,
)
OF_ONE_MESSAGE = {"compaction_place"}  # a compaction with neighbours is one message's own fault
OF_THE_MODEL = {"prefill_unsupported"}


@given(TURNS)
@example([assistant("x"), SUMMARY])
@example([SUMMARY, assistant("x")])
def test_the_check_by_rows_agrees_with_the_check_of_the_whole_request(turns):
    turns = [
        (role, blocks)
        for role, blocks in turns
        if SUMMARY[1][0] not in blocks or blocks == SUMMARY[1]
    ]
    body = {
        "model": "claude-opus-5-5",
        "max_tokens": 100,
        "messages": [{"role": role, "content": blocks} for role, blocks in turns],
    }

    by_rows = set(codes(*turns, strict=True))
    by_request = {fault.code for fault in check_request(body, FACTS)}

    assert by_rows - OF_ONE_MESSAGE == by_request - OF_ONE_MESSAGE - OF_THE_MODEL


@given(TURNS.filter(lambda turns: all(SUMMARY[1][0] not in blocks for _, blocks in turns)))
def test_how_a_turn_is_split_into_rows_does_not_matter(turns):
    joined = [
        (role, [block for _, blocks in group for block in blocks])
        for role, group in groupby(turns, key=lambda turn: turn[0])
    ]
    apart = [(role, [block]) for role, blocks in joined for block in blocks]
    # A result before its call is one row's own fault, which the row's index cannot tell.
    of_rows = {"server_result_orphan", "text_after_result_server"}

    assert set(codes(*joined, strict=True)) - of_rows == set(codes(*apart, strict=True)) - of_rows
