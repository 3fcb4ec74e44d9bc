from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.guard.budget import budget_for
from app.guard.source_pass import LEAST_BUDGET, compact_output
from app.tokens.estimator import estimator_for

ESTIMATOR = estimator_for("claude-sonnet-4-5")
HOW = "Read the rest with read_file /outputs/1."


def count(text):
    return ESTIMATOR.system_block(text).tokens


def compact(output, budget=LEAST_BUDGET):
    return compact_output(output, budget, count, how_to_read=HOW)


def test_what_fits_is_left_as_it_is():
    found = compact("all is well\n")

    assert (found.text, found.left_out) == ("all is well\n", 0)
    assert found.original_tokens == count("all is well\n")


def test_a_long_output_keeps_its_ends_and_says_what_is_missing_and_how_to_read_it():
    lines = [f"line {number} of the log\n" for number in range(5000)]

    found = compact("".join(lines), 1000)

    said, *shown = found.text.split("\n")
    assert HOW in said
    assert f"{found.original_tokens:,} tokens" in said
    assert shown[0] == "line 0 of the log"
    assert shown[-2:] == ["line 4999 of the log", ""]
    assert f"[… {found.left_out:,} characters left out …]" in shown
    assert count(found.text) <= 1000
    assert count(found.text) > 800


def test_cuts_fall_between_lines_where_lines_are_short():
    lines = [f"line {number}" for number in range(5000)]

    shown = compact("\n".join(lines), 500).text.split("\n")[1:]

    assert {each for each in shown if each and not each.startswith("[…")} <= set(lines)


@pytest.mark.parametrize(
    "output",
    [
        "x" * 300_000,
        "漢字" * 50_000,
        "😀" * 50_000,
        " " * 1_000_000,
        "\n" * 300_000,
        "a1!é\n" * 60_000,
    ],
    ids=["letters", "han", "emoji", "blanks", "newlines", "mixed"],
)
def test_whatever_it_is_made_of_it_fits_and_a_second_pass_changes_nothing(output):
    found = compact(output, 1000)

    assert count(found.text) <= 1000
    assert compact(found.text, 1000).text == found.text


@given(
    st.lists(st.sampled_from(["word ", "\n", "漢", "😀", "x" * 90, "é1\t", "}{"]), max_size=400),
    st.integers(LEAST_BUDGET, 400),
)
def test_ends_are_those_of_the_output_and_nothing_is_lost_uncounted(pieces, budget):
    output = "".join(pieces)

    found = compact(output, budget)

    assert count(found.text) <= budget
    if found.left_out:
        _, body = found.text.split("\n", 1)
        head, tail = body.split(f"\n[… {found.left_out:,} characters left out …]\n")
        assert output.startswith(head)
        assert output.endswith(tail)
        assert len(head) + found.left_out + len(tail) == len(output)
    else:
        assert found.text == output


@pytest.mark.parametrize("more", [1, 60])
def test_pieces_that_cost_more_together_than_alone_fit_all_the_same(more):
    def uneven(text):
        return len(text) + (more if "\n[…" in text and len(text) > 400 else 0)

    found = compact_output("x" * 9000, 800, uneven, how_to_read=HOW)

    assert 780 < uneven(found.text) <= 800


def test_a_budget_without_room_is_a_fault_of_the_caller():
    with pytest.raises(ValueError, match="at least"):
        compact("x", LEAST_BUDGET - 1)
    with pytest.raises(ValueError, match="leaves no room"):
        compact_output("word " * 900, LEAST_BUDGET, count, how_to_read="very " * 400)


@pytest.mark.parametrize(
    ("window", "max_tokens", "limit"),
    [
        (8_192, 4_096, 1_000),
        (32_768, 8_192, 2_392),
        (128_000, 16_384, 10_944),
        (10**6, 64_000, 15_000),
    ],
)
def test_the_limit_of_one_result_is_a_tenth_within_bounds(window, max_tokens, limit):
    assert budget_for(window, max_tokens).tool_output == limit
