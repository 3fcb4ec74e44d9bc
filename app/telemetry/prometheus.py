"""Figures in Prometheus' text format. Importing this takes a quarter of a second."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from app.domain.measures import Measures

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4


def text(measures: Measures) -> bytes:
    """The body of an answer to a scrape."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Figures(measures))
    return generate_latest(registry)


def families(measures: Measures) -> list[Metric]:
    """The metrics, each with its samples."""
    return list(_Figures(measures).collect())


class _Figures(Collector):
    def __init__(self, measures: Measures) -> None:
        self._measures = measures

    def collect(self) -> Iterator[Metric]:
        yield from self._work()
        yield from self._calls()
        about = "Overrides that are in force, by tenant."
        overrides = GaugeMetricFamily("hango_context_overrides_active", about, labels=["tenant"])
        for tenant, number in self._measures.stored.overrides.items():
            overrides.add_metric([str(tenant)], number)
        yield overrides

    def _work(self) -> Iterator[Metric]:
        waiting = GaugeMetricFamily(
            "hango_jobs_waiting", "Jobs that no worker has taken yet.", labels=["queue"]
        )
        for queue, number in self._measures.jobs_waiting.items():
            waiting.add_metric([queue], number)
        labels = ["kind", "status"]
        work = GaugeMetricFamily("hango_work", "Runs and tries that have not ended.", labels=labels)
        oldest = GaugeMetricFamily(
            "hango_work_oldest_seconds", "The age of the oldest of them.", labels=labels
        )
        for each in self._measures.stored.open_work:
            work.add_metric([each.kind, each.status], each.number)
            oldest.add_metric([each.kind, each.status], each.oldest_seconds)
        yield from (waiting, work, oldest)

    def _calls(self) -> Iterator[Metric]:
        stored = self._measures.stored
        yield GaugeMetricFamily(
            "hango_calls_under_way", "Model calls that have begun.", value=stored.calls_under_way
        )
        yield CounterMetricFamily(
            "hango_tokens", "Tokens of all model calls, in and out.", value=stored.tokens
        )
        yield CounterMetricFamily(
            "hango_cost_micro_dollars",
            "What they cost, where a price is known, in millionths of a US dollar.",
            value=stored.micro_dollars,
        )
