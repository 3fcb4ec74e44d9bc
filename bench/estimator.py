"""How far the estimate is from what the provider counted: `python -m bench.estimator`.

Prints, by tokenizer family and kind of measurement, the median and the 90th percentile of the
relative error in per cent, and the error of the sum in brackets. "as shipped" is the estimator that
hango uses, on the rows that it was fitted on; "left out" estimates each source with figures that
were fitted without it, which is what to expect of traffic that nobody has seen. The two naive
counts take text as text and every other block and tool definition as its JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median, quantiles

from app.domain.catalogue import facts_for
from app.tokens.calibration import Calibrations, calibrations
from app.tokens.estimator import ClassEstimator
from bench.fit_estimator import fitted
from bench.measurements import NEW, OLD, SMALLEST, Row, read, shares

OUTPUT_END = 3  # tokens of a written message beside its blocks

KINDS: Mapping[str, Callable[[Row], bool]] = {
    "output, text only": lambda row: row.kind == "output_text",
    "output with tool_use": lambda row: row.kind in ("output_tool_use", "output_mixed"),
    "input added: results, user text": lambda row: row.kind == "delta_user",
    "input added: whole turn": lambda row: row.kind == "delta_turn",
    "whole request, no tools": lambda row: row.is_request and not row.raw.get("n_tools"),
    "whole request, tools": lambda row: row.is_request and bool(row.raw.get("n_tools")),
    "all": lambda row: True,  # noqa: ARG005
    "all with their content": lambda row: row.has_content,
}
HEADINGS = ("left out", "as shipped", "raw cl100k", "chars/4")


class Judge:
    """Estimates rows with one set of figures."""

    def __init__(self, figures: Calibrations, rows: Sequence[Row]) -> None:
        self._figures = figures
        self._estimators = {
            name: ClassEstimator(each, figures.version) for name, each in figures.families.items()
        }
        self._shares = shares(list(rows))

    def estimate(self, row: Row) -> float:
        """Through the estimator's own door where there is content, otherwise by its figures."""
        facts = facts_for(row.model)
        name = facts.id if facts.id in self._estimators else facts.tokenizer_family
        if not row.has_content:
            return self._by_counts(row, name)
        estimator = self._estimators[name]
        if row.is_request:
            body = row.raw["request"]
            choice = row.raw.get("tool_choice")
            forced = {"type": choice} if isinstance(choice, str) else choice
            return estimator.request({**body, "model": row.model, "tool_choice": forced})
        whole = estimator.message("assistant", row.raw["content"]).tokens
        share = self._figures.families[name].overheads["message"]
        if row.kind.startswith("output"):
            return whole - share + OUTPUT_END
        return whole + share - (OUTPUT_END if row.kind == "delta_user" else 0)

    def _by_counts(self, row: Row, name: str) -> float:
        figures = self._figures.families[name]
        classes = row.divided(self._shares)
        costs = {**figures.overheads, "output_end": OUTPUT_END}
        return (
            sum(figures.weights[each] * count for each, count in classes.items())
            + sum(costs[each] * times for each, times in row.overheads.items())
            + row.tool_prompt
        )


def left_out(rows: Sequence[Row]) -> dict[str, float]:
    """Each row's estimate by figures that were fitted without its source."""
    estimates = {}
    for source in sorted({row.source for row in rows}):
        others = [row for row in rows if row.source != source]
        judge = Judge(fitted(others, calibrations()), others)
        estimates |= {row.raw["id"]: judge.estimate(row) for row in rows if row.source == source}
    return estimates


def summary(pairs: Iterable[tuple[float, int]]) -> str:
    """Median, 90th percentile and the sum's error of (estimate, real) pairs, in per cent."""
    pairs = list(pairs)
    if len(pairs) < 2:
        return "–"
    errors = [100 * abs(estimate - real) / real for estimate, real in pairs]
    total = 100 * (sum(pair[0] for pair in pairs) / sum(pair[1] for pair in pairs) - 1)
    return f"{median(errors):.1f}, {quantiles(errors, n=10)[8]:.0f} ({total:+.0f})"


def within(pairs: Iterable[tuple[float, int]], share: float) -> str:
    """How many of the pairs differ by at most this share, in per cent."""
    near = [abs(estimate - real) <= share * real for estimate, real in pairs]
    return f"{100 * sum(near) / len(near):.0f}"


def main() -> None:
    """Print the table."""
    rows = [row for row in read() if row.usable]
    shipped, outside = Judge(calibrations(), rows), left_out(rows)
    methods: dict[str, Callable[[Row], float]] = {
        "left out": lambda row: outside[row.raw["id"]],
        "as shipped": shipped.estimate,
        "raw cl100k": lambda row: row.raw["json_cl100k"],
        "chars/4": lambda row: row.raw["json_chars"] / 4,
    }
    print(f"| family | what | rows / sources | {' | '.join(HEADINGS)} |")
    print("|---|---|---|" + "---|" * len(HEADINGS))
    for family in (OLD, NEW):
        measured = [row for row in rows if row.family == family and row.real >= SMALLEST]
        for kind, belongs in KINDS.items():
            chosen = [row for row in measured if belongs(row)]
            results = [
                summary((methods[each](row), row.real) for row in chosen) for each in HEADINGS
            ]
            sources = len({row.source for row in chosen})
            print(f"| {family} | {kind} | {len(chosen)} / {sources} | {' | '.join(results)} |")
        for share in (0.1, 0.2):
            results = [
                within([(methods[each](row), row.real) for row in measured], share)
                for each in HEADINGS
            ]
            print(f"| {family} | % of rows within {share:.0%} | | {' | '.join(results)} |")


if __name__ == "__main__":
    main()
