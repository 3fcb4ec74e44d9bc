"""Fit the estimator's figures to what the provider counted: `python -m bench.fit_estimator`.

Prints the figures; with `--write`, puts them into app/tokens/calibration.json. The same data give
the same figures to the last digit.

Each row is a linear equation: tokens of each class times its weight, plus overheads, is the real
count. Solved for figures of at least zero with the least absolute relative error (by reweighted
least squares). Equal rows of one source count once, and a source counts as the square root of its
rows, so that neither a repetitive nor a large source decides. The older family's weights are
fitted freely; the newer one's are those times two factors, one for what is made of letters and one
for the rest, since it has too little text for more. (Independent probes of the counting endpoint
say the same of its tokenizer: 1.45 times the older one's tokens on English, less on code.)
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import app.tokens
from app.tokens.calibration import Calibration, Calibrations, calibrations
from app.tokens.classes import CLASSES
from bench.measurements import NEW, OLD, SMALLEST, Row, read, shares

# Not fitted: the data hold next to no Chinese, Japanese or Korean. One token for one was seen on
# rows of other sources (within 4 % in the median where 15 to 40 % is of it), and the same in both
# families by independent probes.
FIXED = {"cjk": 1.0}
LETTERS = ("word", "longword", "frag", "punctword")

OVERHEADS = ("message", "tool_use", "tool_use_key", "tool_result", "tool", "output_end")
OWN_FIGURES = "claude-opus-4-7"  # a model whose calls cost more than its family's
OWN = ("tool_use",)

ROUNDS = 60
SMOOTH = 0.01  # relative error below which a row pulls no harder

Figures = dict[str, float]
Matrix = np.ndarray[Any, np.dtype[np.float64]]


def fitted(rows: Sequence[Row], start: Calibrations) -> Calibrations:
    """`start` with its fitted figures replaced by those that `rows` give."""
    rows = [row for row in rows if row.usable]
    split = shares(list(rows))
    old = [row for row in rows if row.family == OLD]
    new = [row for row in rows if row.family == NEW]
    weights, old_overheads = fit_old(old, split, frame=7)
    new_weights, new_overheads, own_overheads = fit_new(new, split, weights, frame=8)
    old_overheads["unread_byte"] = per_byte(rows, weights)
    for overheads in (new_overheads, own_overheads):
        overheads["unread_byte"] = per_byte(rows, new_weights)
    families = {
        OLD: _with(start.families[OLD], weights, old_overheads),
        NEW: _with(start.families[NEW], new_weights, new_overheads),
        OWN_FIGURES: _with(start.families[OWN_FIGURES], new_weights, own_overheads),
    }
    return msgspec.structs.replace(start, families=families)


def fit_old(rows: Sequence[Row], split: Counter[str], frame: int) -> tuple[Figures, Figures]:
    """The weights of the classes, and the overheads."""
    free = [each for each in CLASSES if each not in FIXED]

    def columns(row: Row) -> list[float]:
        counts, overheads = _classes(row, split), _overheads(row)
        return [counts[each] for each in free] + [overheads[each] for each in OVERHEADS]

    found = _solve(rows, columns, lambda row: _known(row, split, frame))
    weights = dict(zip(free, found[: len(free)], strict=True)) | FIXED
    return (
        {each: round(float(weights[each]), 3) for each in CLASSES},
        _named(OVERHEADS, found[len(free) :], frame),
    )


def fit_new(
    rows: Sequence[Row], split: Counter[str], old_weights: Figures, frame: int
) -> tuple[Figures, Figures, Figures]:
    """The weights, the overheads, and those of the model that has its own."""
    others = [each for each in CLASSES if each not in LETTERS and each not in FIXED]

    def columns(row: Row) -> list[float]:
        counts, overheads = _classes(row, split), _overheads(row)
        texts = [
            sum(counts[each] * old_weights[each] for each in part) for part in (LETTERS, others)
        ]
        own = OWN_FIGURES in row.model
        shared = [0 if own and each in OWN else overheads[each] for each in OVERHEADS]
        return [*texts, *shared, *(overheads[each] if own else 0 for each in OWN)]

    found = _solve(rows, columns, lambda row: _known(row, split, frame))
    factors = dict.fromkeys(LETTERS, found[0]) | dict.fromkeys(others, found[1])
    weights = {each: round(float(old_weights[each] * factors.get(each, 1)), 3) for each in CLASSES}
    end = 2 + len(OVERHEADS)
    overheads = _named(OVERHEADS, found[2:end], frame)
    own = overheads | dict(zip(OWN, np.round(found[end:], 1).tolist(), strict=True))
    return weights, overheads, own


def _known(row: Row, split: Counter[str], frame: int) -> float:
    """What is not to be fitted of a row's count."""
    counts = _classes(row, split)
    fixed = sum(counts[each] * weight for each, weight in FIXED.items())
    return row.tool_prompt + fixed + frame * row.is_request


def per_byte(rows: Sequence[Row], weights: Figures) -> float:
    """Tokens for a byte of text that cannot be read, as in the texts of the rows."""
    whole = [row for row in rows if row.has_content]
    tokens = sum(row.classes[each] * weights[each] for row in whole for each in CLASSES)
    size = sum(len(text.encode()) for row in whole for text in row.rendering.texts)
    return round(tokens / size, 3)


def _overheads(row: Row) -> Counter[str]:
    """With the first message of a request left to its frame."""
    found: Counter[str] = Counter(row.overheads)
    if row.is_request:
        found["message"] -= 1
    return found


def _classes(row: Row, split: Counter[str]) -> Counter[str]:
    return row.classes if row.has_content else row.divided(split)


def _solve(
    rows: Sequence[Row],
    columns: Callable[[Row], list[float]],
    known: Callable[[Row], float],
) -> Matrix:
    size = np.array([max(row.real, SMALLEST) for row in rows], dtype=np.float64)
    matrix = np.array([columns(row) for row in rows], dtype=np.float64) / size[:, None]
    target = np.array([row.real - known(row) for row in rows]) / size
    importance = _importance(rows, matrix, target)
    pull, found = importance, np.zeros(matrix.shape[1])
    for _ in range(ROUNDS):
        found = _nonnegative_least_squares(matrix, target, pull, found)
        error = np.abs(matrix @ found - target)
        pull = importance / np.maximum(error, SMOOTH) * SMOOTH
    return found


def _importance(rows: Sequence[Row], matrix: Matrix, target: Matrix) -> Matrix:
    keys = [
        (row.source, row.model, row.kind, *np.round(line, 9), round(float(aim), 9))
        for row, line, aim in zip(rows, matrix, target, strict=True)
    ]
    times = Counter(keys)
    different = Counter(key[0] for key in times)
    return np.array([1 / times[key] / different[key[0]] ** 0.5 for key in keys])


def _nonnegative_least_squares(
    matrix: Matrix, target: Matrix, pull: Matrix, start: Matrix
) -> Matrix:
    """By coordinate descent."""
    weighted = matrix * pull[:, None]
    square, aim, found = weighted.T @ matrix, weighted.T @ target, start.copy()
    for _ in range(2000):
        before = found.copy()
        for each in np.flatnonzero(np.diag(square) > 0):
            step = (square[each] @ found - aim[each]) / square[each, each]
            found[each] = max(0.0, found[each] - step)
        if np.max(np.abs(found - before)) < 1e-7:
            break
    return found


def _named(names: Sequence[str], values: Matrix, frame: int) -> Figures:
    """The figures, rounded; `request` is what the frame costs beside the first message."""
    named = dict(zip(names, np.round(values, 1).tolist(), strict=True))
    return named | {"request": round(frame - named["message"], 1)}


def _with(family: Calibration, weights: Figures, found: Figures) -> Calibration:
    overheads = dict(family.overheads)
    overheads |= {name: value for name, value in found.items() if name != "output_end"}
    return msgspec.structs.replace(family, weights=weights, overheads=overheads)


def main() -> None:
    """Fit on all rows and show, or write, the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="into app/tokens/calibration.json")
    write = parser.parse_args().write
    text = json.dumps(msgspec.to_builtins(fitted(read(), calibrations())), indent=1) + "\n"
    if write:
        (Path(app.tokens.__file__).parent / "calibration.json").write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
