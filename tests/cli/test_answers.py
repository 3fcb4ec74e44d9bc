"""What answers of the API are told as."""

from __future__ import annotations

import pytest

from cli import answers


@pytest.mark.parametrize(
    ("calls", "unpriced", "told"),
    [
        (2, 0, "0.001500 US dollars"),
        (2, 1, "0.001500 US dollars at least, calls of no known price: 1"),
        (2, 2, "not known"),
        (0, 0, "0.001500 US dollars"),
    ],
)
def test_a_cost_that_is_not_the_whole_is_told_as_such(calls: int, unpriced: int, told: str) -> None:
    usage = {"calls": calls, "cost_micro_dollars": 1_500, "unpriced_calls": unpriced}

    assert answers.spent(usage) == told
