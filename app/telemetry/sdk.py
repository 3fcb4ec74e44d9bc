"""OpenTelemetry's SDK with OTLP exporters. Importing this takes most of a second: see setup.py.

Where to, with which headers, how often and how much at once, the SDK reads from the OTEL_*
variables by itself. What leaves is decided in app/telemetry/sieve.py.
"""

from __future__ import annotations

import dataclasses
import os
import re
import socket
from collections.abc import Sequence
from typing import Any

from opentelemetry import metrics as metrics_api
from opentelemetry import trace as trace_api
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.flask import FlaskInstrumentor
from opentelemetry.instrumentation.redis import RedisInstrumentor
from opentelemetry.instrumentation.sqlalchemy.engine import EngineTracer
from opentelemetry.sdk.metrics import AlwaysOffExemplarFilter, MeterProvider
from opentelemetry.sdk.metrics.export import (
    MetricExportResult,
    MetricReader,
    MetricsData,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.metrics.view import View
from opentelemetry.sdk.resources import SERVICE_INSTANCE_ID, SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult
from opentelemetry.trace import SpanKind

from app.telemetry.sieve import LABELS, sifted

_NOT_TRACED = r"^[^/]+//[^/]+/(healthz|readyz|metrics)(\?|$)"


class Sdk:
    """The providers of one process, and what they watch."""

    def __init__(
        self, tracing: TracerProvider | None = None, metering: MeterProvider | None = None
    ) -> None:
        self.tracing = tracing or trace_api.NoOpTracerProvider()
        self.metering = metering or metrics_api.NoOpMeterProvider()
        self._made: tuple[TracerProvider | MeterProvider | None, ...] = (tracing, metering)
        self._connections = self.metering.get_meter("hango").create_up_down_counter(
            "db.client.connections.usage", "{connection}", "Database connections, by their state."
        )

    def watch_app(self, app: Any) -> None:
        """Make a span of each request to this Flask application."""
        FlaskInstrumentor.instrument_app(  # type: ignore[no-untyped-call]
            app,
            request_hook=_without_its_path,
            tracer_provider=self.tracing,
            meter_provider=self.metering,
            excluded_urls=_NOT_TRACED,
            enable_commenter=False,
        )

    def watch_engine(self, engine: Any) -> None:
        """Make a span of each statement of this SQLAlchemy engine, without its values."""
        # The instrumentor itself would patch SQLAlchemy for the whole process.
        tracer = self.tracing.get_tracer("hango.database")
        EngineTracer(tracer, engine, self._connections)  # type: ignore[no-untyped-call]

    def watch_redis(self, client: Any) -> None:
        """Make a span of each command of this client, without its arguments.

        The broker's own client is left alone: it asks for work once a second.
        """
        RedisInstrumentor.instrument_client(client, tracer_provider=self.tracing)

    def close(self) -> None:
        """Send what has gathered, and end. Takes long where the collector is away."""
        for provider in self._made:
            if provider is not None:
                provider.shutdown()


def exporting(process: str, *, spans: bool, metrics: bool) -> Sdk:
    """The SDK that sends by OTLP over HTTP what is asked for. Safe to fork afterwards."""
    resource = _resource(process)
    return Sdk(
        tracing(resource, BatchSpanProcessor(SpanExporter())) if spans else None,
        metering(resource, PeriodicExportingMetricReader(MetricExporter())) if metrics else None,
    )


def tracing(resource: Resource, processor: SpanProcessor) -> TracerProvider:
    """Gives spans to `processor`; OTEL_TRACES_SAMPLER says which."""
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.sampler = NoStrays(provider.sampler)
    provider.add_span_processor(processor)
    return provider


def metering(resource: Resource, reader: MetricReader) -> MeterProvider:
    """Gives metrics to `reader`, with those labels alone that have few values."""
    return MeterProvider(
        [reader],
        resource,
        # An exemplar would carry the labels that were left out.
        exemplar_filter=AlwaysOffExemplarFilter(),
        shutdown_on_exit=False,
        views=[View(instrument_name="*", attribute_keys=LABELS)],
    )


class NoStrays(Sampler):
    """Leaves out statements and commands that belong to no request and no job.

    Leases are renewed and queues looked at all the time: each would be a trace of its own.
    """

    def __init__(self, inner: Sampler) -> None:
        self._inner = inner

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        *others: Any,
        **more: Any,
    ) -> SamplingResult:
        """As the inner sampler decides, for all but strays."""
        parent = trace_api.get_current_span(parent_context).get_span_context()
        if kind is SpanKind.CLIENT and not parent.is_valid:
            return SamplingResult(Decision.DROP)
        return self._inner.should_sample(parent_context, trace_id, name, kind, *others, **more)

    def get_description(self) -> str:
        """For people."""
        return f"NoStrays({self._inner.get_description()})"


class SpanExporter(OTLPSpanExporter):
    """Sends spans as they may be seen outside."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send them, sifted."""
        return super().export([sifted(each) for each in spans])


class MetricExporter(OTLPMetricExporter):
    """Sends metrics in the name of the process that counted them."""

    def export(
        self, metrics_data: MetricsData, timeout_millis: float | None = 10_000, **more: Any
    ) -> MetricExportResult:
        """Send them. A fork copies the resource: only now it is known which process this is."""
        own = Resource({SERVICE_INSTANCE_ID: f"{socket.gethostname()}:{os.getpid()}"})
        named = [
            dataclasses.replace(each, resource=each.resource.merge(own))
            for each in metrics_data.resource_metrics
        ]
        return super().export(MetricsData(named), timeout_millis, **more)


def _resource(process: str) -> Resource:
    """What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say, or this process's name."""
    found = Resource.create()
    name = str(found.attributes.get(SERVICE_NAME, ""))
    unnamed = re.match("unknown_service", name)
    return found.merge(Resource({SERVICE_NAME: process})) if unnamed else found


def _without_its_path(span: trace_api.Span, _environ: dict[str, Any]) -> None:
    """Name what no route knows by nothing that the client chose."""
    if "http.route" not in (getattr(span, "attributes", None) or {}):
        span.update_name("HTTP")
