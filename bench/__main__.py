"""Measure, and say plainly which goals are met: `python -m bench [NAME …]`.

A name is a goal (P1), a theme (inspect, overriding, writing, startup, counting, calling, trying,
waiting) or `estimator`, whose own table follows the goals. Without names everything is measured. A
missed goal is no failure: the exit code is 0, for a figure that depends on what else the machine
does is no gate.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing

from bench import (
    calling,
    counting,
    estimator,
    generator,
    inspect,
    overriding,
    startup,
    trying,
    waiting,
    waking,
    writing,
)
from bench.measure import Finding
from bench.servers import Ground

Measure = Callable[[Ground], Iterator[Finding]]

THEMES: Mapping[str, Mapping[str, Measure]] = {
    "inspect": inspect.GOALS,
    "overriding": overriding.GOALS,
    "writing": writing.GOALS,
    "startup": startup.GOALS,
    "counting": counting.GOALS,
    "calling": calling.GOALS,
    "trying": trying.GOALS,
    "waiting": {"P17": waking.awake, **waiting.GOALS},
}
ESTIMATOR = "estimator"


def main(names: list[str]) -> int:
    """Measure what is named; the exit code."""
    known = {ESTIMATOR, *THEMES, *(goal for theme in THEMES.values() for goal in theme)}
    if unknown := [name for name in names if name not in known]:
        print(f"Not known: {', '.join(unknown)}. There are: {', '.join(sorted(known))}.")
        return 2
    _say_what_is_measured_on()
    if measures := list(_chosen(names)):
        _summarize(list(_measured(measures)))
    if not names or ESTIMATOR in names:
        print("\nEstimates beside what the provider counted: median, 90th percentile (sum), in %\n")
        estimator.main()
    return 0


def _chosen(names: list[str]) -> Iterable[Measure]:
    """The measures that are named, each once: some yield several goals."""
    return dict.fromkeys(
        measure
        for theme, goals in THEMES.items()
        for goal, measure in goals.items()
        if not names or theme in names or goal in names
    )


def _measured(measures: list[Measure]) -> Iterator[Finding]:
    """Take them one after the other, and print each line as soon as it is known."""
    print("| goal | what | limit | median (lowest..highest) | |\n|---|---|---|---|---|")
    with closing(Ground()) as ground:
        for measure in measures:
            for finding in measure(ground):
                print(_line(finding), flush=True)
                yield finding


def _line(finding: Finding) -> str:
    limit = "" if finding.limit is None else f"≤ {finding.limit:g}"
    note = f" ({finding.note})" if finding.note else ""
    figures = finding.measured or "–"
    return f"| {finding.name} | {finding.what}{note} | {limit} | {figures} | {finding.verdict} |"


def _say_what_is_measured_on() -> None:
    size = min(generator.KNOWN)
    same = generator.digest(generator.session(size)) == generator.KNOWN[size]
    data = "as published" if same else "its own: Python's files are of another version"
    print(f"Python {platform.python_version()}, {platform.machine()}; generated sessions {data}.\n")


def _summarize(findings: list[Finding]) -> None:
    judged = [each for each in findings if each.limit is not None and each.measured]
    missed = [each for each in judged if each.verdict == "MISSED"]
    print(f"\n{len(judged) - len(missed)} of {len(judged)} lines are within their limits.")
    for each in missed:
        print(f"Missed: {each.name}, {each.what}: {each.measured}, limit {each.limit:g}.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
