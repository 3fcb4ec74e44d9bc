"""Spans and metrics on OpenTelemetry: what app/telemetry/{spans,metrics}.py promise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry import trace
from opentelemetry.metrics import CallbackOptions, Meter, MeterProvider, Observation
from opentelemetry.trace import SpanKind, StatusCode, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from app.errors import Failure
from app.telemetry import names
from app.telemetry.metrics import Labels
from app.telemetry.spans import NOTHING, Attributes, Carrier, Ids, Kind, Span

SCOPE = "hango"

_KINDS: Mapping[Kind, SpanKind] = {
    "internal": SpanKind.INTERNAL,
    "server": SpanKind.SERVER,
    "client": SpanKind.CLIENT,
    "producer": SpanKind.PRODUCER,
    "consumer": SpanKind.CONSUMER,
}

_propagator = TraceContextTextMapPropagator()


class RecordedSpan:
    """See `app.telemetry.spans.Span`."""

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    @property
    def recorded(self) -> bool:
        """Whether anybody will see it: a sampler may have left it out."""
        return self._span.is_recording()

    def set(self, attributes: Attributes) -> None:
        """See there."""
        self._span.set_attributes(_known(attributes))

    def event(self, name: str, attributes: Attributes = NOTHING) -> None:
        """See there."""
        self._span.add_event(name, _known(attributes))

    def failed(self, code: str) -> None:
        """See there."""
        self._span.set_attribute(names.ERROR, code)
        self._span.set_status(StatusCode.ERROR)


class RecordedTracing:
    """See `app.telemetry.spans.Tracing`."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer(SCOPE)

    @contextmanager
    def begun(
        self, name: str, kind: Kind, attributes: Attributes, sender: Carrier | None
    ) -> Iterator[Span]:
        """See there. An exception's text is left out: it may quote content."""
        with self._tracer.start_as_current_span(
            name,
            context=None if sender is None else _propagator.extract(sender),
            kind=_KINDS[kind],
            attributes=_known(attributes),
            record_exception=False,
            set_status_on_exception=False,
        ) as made:
            span = RecordedSpan(made)
            try:
                yield span
            except Failure as failure:
                span.failed(failure.code)
                raise
            except Exception as error:
                span.failed(type(error).__name__)
                raise

    def current(self) -> Span:
        """See there."""
        return RecordedSpan(trace.get_current_span())

    def ids(self) -> Ids | None:
        """See there."""
        context = trace.get_current_span().get_span_context()
        if not context.is_valid:
            return None
        return Ids(trace.format_trace_id(context.trace_id), trace.format_span_id(context.span_id))

    def carrier(self) -> dict[str, str]:
        """See there."""
        carried: dict[str, str] = {}
        _propagator.inject(carried)
        return carried


class RecordedMetering:
    """See `app.telemetry.metrics.Metering`."""

    def __init__(self, provider: MeterProvider) -> None:
        meter = provider.get_meter(SCOPE)
        self._gauges: dict[str, list[Observation]] = {}
        self._instruments = {name: self._made(meter, name) for name in names.METRICS}

    def count(self, name: str, labels: Labels) -> None:
        """See there."""
        self._instruments[name].add(1, labels)

    def record(self, name: str, value: float, labels: Labels) -> None:
        """See there."""
        self._instruments[name].record(value, labels)

    def observe(self, name: str, values: Mapping[str, float], label: str) -> None:
        """See there. Kept until the next export, which takes it along."""
        self._gauges[name] = [Observation(value, {label: key}) for key, value in values.items()]

    def _made(self, meter: Meter, name: str) -> Any:
        metric = names.METRICS[name]
        if metric.kind == "counter":
            return meter.create_counter(name, metric.unit, metric.about)
        if metric.kind == "histogram":
            return meter.create_histogram(name, metric.unit, metric.about)
        return meter.create_observable_gauge(name, [self._taking(name)], metric.unit, metric.about)

    def _taking(self, name: str) -> Callable[[CallbackOptions], Iterable[Observation]]:
        # What was reported once is exported once. Left standing, the value of a process that has
        # long stopped measuring would go on beside that of the process that measures now.
        return lambda _options: self._gauges.pop(name, [])


def _known(attributes: Attributes) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if value is not None}
