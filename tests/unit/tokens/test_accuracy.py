"""The shipped figures against what the provider counted: a guard; bench/ has the benchmark."""

from statistics import median

import pytest

from app.tokens.calibration import calibrations
from bench.estimator import KINDS, Judge
from bench.measurements import NEW, OLD, SMALLEST, Row, read


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return [row for row in read() if row.usable and row.real >= SMALLEST]


@pytest.mark.parametrize(
    ("family", "kind", "limit"),
    [
        (OLD, "output, text only", 2.5),
        (OLD, "output with tool_use", 2.5),
        (OLD, "whole request, tools", 1.0),
        (NEW, "output, text only", 4.5),
        (NEW, "output with tool_use", 4.5),
        (NEW, "whole request, tools", 1.0),
    ],
)
def test_half_of_the_measurements_are_within(
    rows: list[Row], family: str, kind: str, limit: float
) -> None:
    chosen = [row for row in rows if row.family == family and KINDS[kind](row)]
    judge = Judge(calibrations(), chosen)

    errors = [100 * abs(judge.estimate(row) / row.real - 1) for row in chosen]

    assert median(errors) <= limit
