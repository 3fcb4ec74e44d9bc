"""docs/reference/telemetry.md: every span, event, attribute and metric, from their names' table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from app.domain.measures import Measures, Stored
from app.telemetry import names, prometheus
from docs.writers.markdown import cell, filled, table

NOTHING = Measures(Stored([], 0, 0, 0, {}), {})


def page() -> str:
    """The whole text."""
    return filled(
        "telemetry.md",
        spans=_named("span", names.SPANS),
        events=_named("event", names.EVENTS),
        attributes=_named("attribute", names.ATTRIBUTES),
        metrics=table(("metric", "kind", "unit", "meaning", "labels"), _metrics()),
        prometheus=table(("metric", "kind", "meaning"), _prometheus()),
    )


def _named(what: str, found: Mapping[str, str]) -> str:
    rows = [[f"`{name}`", cell(about)] for name, about in found.items()]
    return table((what, "meaning"), rows)


def _metrics() -> Iterator[list[str]]:
    for name, each in names.METRICS.items():
        labels = ", ".join(f"`{label}`" for label in each.attributes)
        yield [f"`{name}`", each.kind, cell(each.unit), each.about, labels]


def _prometheus() -> Iterator[list[str]]:
    for each in prometheus.families(NOTHING):
        suffix = "_total" if each.type == "counter" else ""
        yield [f"`{each.name}{suffix}`", each.type, each.documentation]
