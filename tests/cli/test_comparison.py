"""Two lists of parts compared, whatever is in them."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cli.overrides.comparison import SAME, between_snapshots, folded
from tests.cli.test_context import group, part, snapshot

PARTS = st.lists(
    st.tuples(st.integers(1, 12), st.integers(0, 50), st.booleans(), st.sampled_from("ab")),
    unique_by=lambda each: each[0],
)
NOTHING = group()


def with_messages(listed: list[tuple[int, int, bool, str]]) -> dict[str, Any]:
    parts = [part(f"message:{n}", t, included=i, sha256=s) for n, t, i, s in listed]
    return snapshot(messages=group(*parts))


@given(PARTS, PARTS)
def test_every_part_has_one_row_and_the_rows_add_up(first: Any, second: Any) -> None:
    old, new = with_messages(first), with_messages(second)

    rows = between_snapshots(old, new)["messages"]

    numbers = [int(row.part[8:]) for row in rows]
    assert sorted(numbers) == sorted({each[0] for each in first} | {each[0] for each in second})
    ours = {each[0] for each in second}
    assert [number for number in numbers if number in ours] == [each[0] for each in second]
    before, after = (each["groups"]["messages"]["tokens"]["after"] for each in (old, new))
    assert sum(row.before or 0 for row in rows) == before
    assert sum(row.after or 0 for row in rows) == after


@given(PARTS)
def test_a_snapshot_is_like_itself(listed: Any) -> None:
    rows = between_snapshots(with_messages(listed), with_messages(listed))["messages"]

    assert {row.change for row in rows} <= {SAME}
    assert len(list(folded(rows))) == (1 if rows else 0)


@given(PARTS, PARTS)
def test_folding_loses_nothing_and_leaves_no_two_runs_together(first: Any, second: Any) -> None:
    rows = between_snapshots(with_messages(first), with_messages(second))["messages"]

    pieces = list(folded(rows))

    flat = [row for each in pieces for row in (each if isinstance(each, list) else [each])]
    assert flat == rows
    runs = [isinstance(each, list) for each in pieces]
    assert not any(a and b for a, b in itertools.pairwise(runs))


def test_what_changed_is_called_by_its_name() -> None:
    old = [
        part("message:1"), part("message:2"), part("message:3", override="replace", sha256="a"),
        part("message:4", included=False), part("message:5"), part("message:6"), part("message:7"),
        part("message:8", sha256="a"),
    ]  # fmt: skip
    new = [
        part("message:1", 9), part("message:2", sha256="b", override="replace"),
        part("message:3"), part("message:4"), part("message:5", included=False),
        part("message:7", sha256="c", thinking_dropped=True),
        part("message:8", sha256="b"), part("message:9"), part("message:10", included=False),
    ]  # fmt: skip

    rows = between_snapshots(snapshot(messages=group(*old)), snapshot(messages=group(*new)))

    assert {row.part[8:]: row.change for row in rows["messages"]} == {
        "1": "counted anew", "2": "replaced", "3": "original again", "4": "brought back",
        "5": "left out", "6": "gone", "7": "thinking left out", "8": "changed", "9": "added",
        "10": SAME,
    }  # fmt: skip
