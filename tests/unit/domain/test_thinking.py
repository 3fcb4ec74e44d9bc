from __future__ import annotations

from app.domain.messages import MessageRef
from app.domain.thinking import Thought, head_sha256, prefixes, sendable

HEAD = head_sha256(["prompt"], ["t1", "t2"])


def message(seq, role="assistant", marks="thinking", sha=None):
    return MessageRef(seq, role, 1, "", sha or f"{seq:064}", "", "", marks)


TALK = [
    message(1, "user", ""),
    message(2),
    message(3, "user", ""),
    message(4),
    message(5, "user", ""),
]


def thoughts_of(messages, head=HEAD):
    """Thinking as it was made under this head, each behind the one before."""
    blank = {m.seq: Thought(m.seq, m.sha256, None, None) for m in messages if m.marks}
    now = prefixes(head, messages, blank)
    seqs = sorted(blank)
    return [
        Thought(seq, blank[seq].bare_sha256, now[seq], before)
        for before, seq in zip([None, *seqs], seqs, strict=False)
    ]


def kept(messages, thoughts, head=HEAD, touched=()):
    there = {each.seq for each in messages}
    known = {each.seq: each for each in thoughts if each.seq in there}
    return sendable(list(known.values()), prefixes(head, messages, known), touched)


def test_with_nothing_changed_all_thinking_goes_back():
    assert kept(TALK, thoughts_of(TALK)) == {2, 4}


def test_another_prompt_or_tool_takes_all_of_it():
    thoughts = thoughts_of(TALK)

    assert kept(TALK, thoughts, head_sha256(["another"], ["t1", "t2"])) == set()
    assert kept(TALK, thoughts, head_sha256(["prompt"], ["t1"])) == set()


def test_the_order_of_tools_is_nothing():
    assert kept(TALK, thoughts_of(TALK), head_sha256(["prompt"], ["t2", "t1"])) == {2, 4}


def test_a_message_left_out_takes_the_thinking_behind_it_and_with_it_all():
    # The newest is not good, and what stands before it would leave a gap at the end if it were
    # sent alone; that is allowed, yet the newest good run must reach the newest block.
    changed = [each for each in TALK if each.seq != 3]

    assert kept(changed, thoughts_of(TALK)) == set()


def test_thinking_may_go_from_the_start():
    thoughts = thoughts_of(TALK)
    first = Thought(2, thoughts[0].bare_sha256, "something else", None)

    assert kept(TALK, [first, thoughts[1]]) == {4}


def test_retired_thinking_stays_out_and_what_was_made_meanwhile_goes_back():
    first, second = thoughts_of(TALK)
    retired = Thought(2, first.bare_sha256, first.prefix_sha256, None, retired=True)
    meanwhile = Thought(4, second.bare_sha256, second.prefix_sha256, None)

    assert kept(TALK, [retired, meanwhile]) == {4}


def test_what_was_made_without_the_thinking_before_does_not_go_back_with_it():
    first, second = thoughts_of(TALK)
    alone = Thought(4, second.bare_sha256, second.prefix_sha256, None)

    assert kept(TALK, [first, alone]) == {4}


def test_thinking_of_an_unknown_prefix_is_left_out():
    thoughts = [Thought(2, "0" * 64, None, None)]

    assert kept(TALK[:3], thoughts) == set()


def test_a_touched_message_loses_its_thinking():
    assert kept(TALK, thoughts_of(TALK), touched=[4]) == set()


def test_thinking_is_no_part_of_the_prefix():
    bare = [Thought(each.seq, "f" * 64, None, None) for each in TALK if each.marks]
    known = {each.seq: each for each in bare}
    other = [message(m.seq, m.role, m.marks, "e" * 64 if m.marks else None) for m in TALK]

    assert prefixes(HEAD, TALK, known) == prefixes(HEAD, other, known)
