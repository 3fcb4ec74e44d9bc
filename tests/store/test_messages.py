"""Messages: numbered without a gap, kept byte for byte, read back light."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, Event

import pytest
from msgspec.structs import replace

from app.domain.checkpoints import NewCheckpoint
from app.domain.counts import NewCount
from app.domain.ids import new_id
from app.domain.messages import MessageRef
from app.errors import NotFound
from tests.store.people import COUNTED_BY, a_message, a_session, with_session

OTHER_ESTIMATOR = "another/1"


@pytest.fixture
def session(database, people):
    return with_session(database, people.alice)


def summary_of(covers_seq, text="So far", **changes):
    return NewCheckpoint(
        covers_seq=covers_seq,
        summary=a_message(text),
        label="Summary",
        origin="checkpoint 1",
        trigger="auto",
        **changes,
    )


def test_messages_are_numbered_from_one_and_come_back_as_they_were(database, people, session):
    with database.transaction(people.alice) as tx:
        first = tx.messages.append(session.id, [a_message("One"), a_message("Two", "assistant")])
        second = tx.messages.append(session.id, [a_message("Three")])

    with database.reading(people.alice) as tx:
        page = tx.messages.page(session.id, None, 50)

        assert [each.seq for each in page.items] == [1, 2, 3]
        assert page.items == first + second
        assert page.next is None
        assert tx.sessions.get(session.id).last_seq == 3
        assert tx.sessions.get(session.id).message_tokens == 12


def test_nothing_appended_changes_nothing(database, people, session):
    with database.transaction(people.alice) as tx:
        assert tx.messages.append(session.id, []) == []
        assert tx.sessions.get(session.id) == session


def test_content_keeps_its_bytes(database, people, session):
    content = '[{"type":"tool_use","z":1,"a":1.50,"é":"\\u0000","b":12345678901234567890123}]'
    with database.transaction(people.alice) as tx:
        tx.messages.append(session.id, [a_message(content=content)])

    with database.reading(people.alice) as tx:
        assert tx.messages.contents(session.id, [1]) == {1: content}


def test_nul_and_lone_surrogates_never_reach_the_driver(database, people, session):
    dirty = a_message(content='[{"text":"a\x00b\ud800"}]', preview="a\x00b\udfff")

    with database.transaction(people.alice) as tx:
        tx.messages.append(session.id, [dirty])
        (stored,) = tx.messages.page(session.id, None, 1).items

    assert stored.content == '[{"text":"a\ufffdb\ufffd"}]'
    assert stored.preview == "a\ufffdb\ufffd"


def test_pages_go_through_all_of_it_once(database, people, session):
    with database.transaction(people.alice) as tx:
        tx.messages.append(session.id, [a_message(str(number)) for number in range(7)])

    seqs, after = [], None
    with database.reading(people.alice) as tx:
        while True:
            page = tx.messages.page(session.id, after, 3)
            seqs += [each.seq for each in page.items]
            after = page.next
            if after is None:
                break

    assert seqs == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("after", [7, 2**31 - 1, 2**63, 10**30])
def test_behind_the_end_there_is_an_empty_page(database, people, session, after):
    with database.reading(people.alice) as tx:
        assert tx.messages.page(session.id, after, 50).items == []


def test_numbers_that_no_message_can_have_are_not_found(database, people, session):
    with database.transaction(people.alice) as tx:
        tx.messages.append(session.id, [a_message()] * 3)

        assert tx.messages.contents(session.id, []) == {}
        assert tx.messages.contents(session.id, [-1, 0, 4, 2**31, 10**30]) == {}
        assert tx.messages.contents(session.id, [1, 3, 10**30]).keys() == {1, 3}
        assert tx.messages.contents(session.id, [2, 3]).keys() == {2, 3}


@pytest.mark.committed
def test_writers_at_the_same_time_share_the_numbers(database, people, session):
    """D25"""
    start = Barrier(20)

    def write(number):
        start.wait()
        with database.transaction(people.alice) as tx:
            return [
                each.seq
                for each in tx.messages.append(session.id, [a_message()] * (number % 3 + 1))
            ]

    with ThreadPoolExecutor(20) as pool:
        taken = list(pool.map(write, range(20)))

    with database.reading(people.alice) as tx:
        stored = [each.seq for each in tx.messages.page(session.id, None, 200).items]
        assert tx.sessions.get(session.id).last_seq == len(stored)
    assert stored == list(range(1, len(stored) + 1))
    assert sorted(seq for seqs in taken for seq in seqs) == stored
    assert all(seqs == list(range(seqs[0], seqs[0] + len(seqs))) for seqs in taken)


@pytest.mark.committed
def test_the_order_of_numbers_is_the_order_of_commits(database, people, session):
    appended, late = Event(), []

    def second():
        appended.wait(10)
        with database.transaction(people.alice) as tx:
            late.extend(tx.messages.append(session.id, [a_message("Second")]))

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(second)
        with database.transaction(people.alice) as tx:
            tx.messages.append(session.id, [a_message("First")])
            appended.set()
            assert late == []  # it waits for this transaction, which holds the session
        waiting.result(10)

    assert [each.seq for each in late] == [2]


@pytest.mark.committed
def test_numbers_of_a_transaction_that_failed_are_taken_by_the_next(database, people, session):
    with suppress(ZeroDivisionError), database.transaction(people.alice) as tx:
        tx.messages.append(session.id, [a_message()])
        raise ZeroDivisionError

    with database.transaction(people.alice) as tx:
        assert [each.seq for each in tx.messages.append(session.id, [a_message()])] == [1]


def test_history_has_headers_in_the_order_of_a_reference(database, people, session):
    new = a_message(
        "Look",
        "assistant",
        tool_use_ids="toolu_1 toolu_2",
        tool_result_ids="toolu_0",
        marks="thinking",
    )
    with database.transaction(people.alice) as tx:
        tx.messages.append(session.id, [new])
        history = tx.messages.history(session.id, COUNTED_BY)

    assert history.checkpoint is None
    assert history.messages == [
        MessageRef(
            seq=1,
            role="assistant",
            tokens=4,
            preview="Look",
            sha256=new.sha256,
            tool_use_ids="toolu_1 toolu_2",
            tool_result_ids="toolu_0",
            marks="thinking",
        )
    ]


def test_a_count_of_another_estimator_is_not_known(database, people, session):
    with database.transaction(people.alice) as tx:
        mine, other = a_message(), a_message(counted_by=OTHER_ESTIMATOR)
        tx.messages.append(session.id, [mine, other])

        assert [each.tokens for each in tx.messages.history(session.id, COUNTED_BY).messages] == [
            4,
            None,
        ]


def test_an_empty_session_has_an_empty_history_and_an_absent_one_none(database, people, session):
    with database.reading(people.alice) as tx:
        assert tx.messages.history(session.id, COUNTED_BY).messages == []
        with pytest.raises(NotFound):
            tx.messages.history(new_id(), COUNTED_BY)


def test_history_starts_behind_the_newest_checkpoint(database, people, session):
    with database.transaction(people.alice) as tx:
        tx.messages.append(session.id, [a_message(str(number)) for number in range(6)])
        tx.checkpoints.add(session, summary_of(2, "First summary"))
        tx.checkpoints.add(session, summary_of(4, "Second summary"))
        history = tx.messages.history(session.id, COUNTED_BY)

        assert [each.seq for each in history.messages] == [5, 6]
        assert history.checkpoint.covers_seq == 4
        summary = history.checkpoint.summary
        assert (summary.seq, summary.role, summary.tokens) == (0, "user", 4)
        assert summary.part == "summary"
        assert summary.made.blocks == [{"type": "text", "text": "Second summary"}]
        assert (summary.made.label, summary.made.origin) == ("Summary", "checkpoint 1")
        assert tx.checkpoints.latest(session.id, COUNTED_BY) == history.checkpoint
        assert len(tx.messages.page(session.id, None, 50).items) == 6


@pytest.mark.parametrize("covers", [0, 1, 7])
def test_coverage_never_falls_and_never_leads(database, people, session, covers):
    with database.transaction(people.alice) as tx:
        tx.messages.append(session.id, [a_message()] * 6)
        tx.checkpoints.add(session, summary_of(2))

        with pytest.raises(ValueError, match="Covers"):
            tx.checkpoints.add(session, summary_of(covers))


def turns(*wanted):
    """`user`, `assistant call`, `user >call`: roles with the calls made and the calls answered."""
    made = []
    for each in wanted:
        role, *ids = each.split()
        made.append(
            a_message(
                role=role,
                tool_use_ids=" ".join(call for call in ids if not call.startswith(">")),
                tool_result_ids=" ".join(call[1:] for call in ids if call.startswith(">")),
            )
        )
    return made


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        ([], []),
        (["user"], [1]),
        (["user", "user"], [2]),
        (["user", "assistant a"], [1, 2]),
        (["user", "assistant a", "assistant b", "user >a"], [1, 2, 3, 4]),
        (["user", "assistant a", "user >a", "assistant b c", "user >b"], [3, 4, 5]),
        (["user", "assistant", "system", "assistant a"], [1, 2, 3, 4]),
        (["user", "assistant", "user", "user", "assistant a"], [4, 5]),
    ],
)
def test_the_tail_has_every_open_call(database, people, session, history, expected):
    with database.transaction(people.alice) as tx:
        tx.messages.append(session.id, turns(*history))
        tail = tx.messages.tail(session.id)

    assert [each.seq for each in tail] == expected
    assert all(each.tool_result_ids == "" for each in tail[:1])


def test_ids_of_calls_are_found_wherever_they_stand(database, people, session):
    with database.transaction(people.alice) as tx:
        tx.messages.append(session.id, turns("user", "assistant a ~server", "user >a"))
        asked = {"a", "~a", "server", "~server", "b", ""}

        assert tx.messages.has_tool_ids(session.id, asked) == {"a", "~a", "server", "~server"}
        assert tx.messages.has_tool_ids(session.id, []) == set()


def test_counts_are_renewed_and_nothing_else(database, people, session):
    with database.transaction(people.alice) as tx:
        tx.messages.append(session.id, [a_message(), a_message(counted_by=OTHER_ESTIMATOR)])
        before = tx.messages.page(session.id, None, 50).items

    with database.system() as tx:
        assert tx.counts.models() == {session.agent_id: "claude-sonnet-5-5"}
        (stale,) = tx.counts.stale(session.agent_id, COUNTED_BY, 50)
        assert (stale.seq, stale.content) == (2, before[1].content)
        tx.counts.store(COUNTED_BY, [NewCount(stale.tenant_id, stale.session_id, 2, 9)])
        assert tx.counts.stale(session.agent_id, COUNTED_BY, 50) == []

    with database.reading(people.alice) as tx:
        after = tx.messages.page(session.id, None, 50).items
        assert after == [before[0], replace(before[1], tokens=9)]


def test_a_child_session_goes_with_its_parent(database, people, session):
    with database.transaction(people.alice) as tx:
        child = tx.sessions.add(
            a_session(
                people.alice,
                session.agent_id,
                parent_id=session.id,
                parent_tool_use_id="toolu_1",
            )
        )
        tx.messages.append(child.id, [a_message()])
        tx.sessions.delete(session.id)

        assert tx.sessions.page(None, 50).items == []
