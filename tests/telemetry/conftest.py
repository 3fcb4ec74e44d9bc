"""hango with telemetry on, all in this process, and everything that it says of itself kept."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import pytest
import structlog
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from app.domain.principals import Role
from app.runtime import Runtime, build_runtime
from app.services import execution, try_execution
from app.settings import Secret, Settings
from app.telemetry import logs, sdk, setup
from app.telemetry.sieve import sifted
from app.web import create_app
from tests.factories import Caller, make_caller, make_tenant


class _Kept(InMemorySpanExporter):
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return super().export([sifted(each) for each in spans])


@dataclass
class Recorded:
    """What hango has said: as it would leave the process."""

    exporter: InMemorySpanExporter
    reader: InMemoryMetricReader
    written: io.StringIO

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        return self.exporter.get_finished_spans()

    def named(self, name: str) -> list[ReadableSpan]:
        return [each for each in self.spans if each.name == name]

    def one(self, name: str) -> ReadableSpan:
        (found,) = self.named(name)
        return found

    def parent_of(self, span: ReadableSpan) -> str | None:
        """The name of the span above, or None at the top of a trace."""
        if span.parent is None:
            return None
        above = span.parent.span_id
        return next(each.name for each in self.spans if each.context.span_id == above)

    @property
    def logged(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.written.getvalue().splitlines()]

    def metrics(self) -> dict[str, list[tuple[Mapping[str, Any], Any]]]:
        """Each metric's points: labels, and the sum, count or value. Gauges are taken out by it."""
        data = self.reader.get_metrics_data()
        found: dict[str, list[tuple[Mapping[str, Any], Any]]] = {}
        for resource in data.resource_metrics if data else ():
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    found[metric.name] = [
                        (dict(each.attributes), getattr(each, "count", None) or each.value)
                        for each in metric.data.data_points
                    ]
        return found

    def metrics_text(self) -> str:
        """Every metric with its labels and resources, to be searched."""
        data = self.reader.get_metrics_data()
        return data.to_json() if data else ""


@pytest.fixture
def recorded() -> Iterator[Recorded]:
    exporter, reader, written = _Kept(), InMemoryMetricReader(), io.StringIO()
    setup.use(
        sdk.Sdk(
            sdk.tracing(Resource({}), SimpleSpanProcessor(exporter)),
            sdk.metering(Resource({}), reader),
        )
    )
    logs.configure("DEBUG")
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(written))
    yield Recorded(exporter, reader, written)
    setup.stop()
    logs.configure("INFO")


@pytest.fixture
def runtime(
    settings: Settings, clean_database: None, clean_redis: None, recorded: Recorded
) -> Iterator[Runtime]:
    made = build_runtime(
        replace(
            settings,
            rate_limit_per_minute=0,
            langfuse=True,
            outbound_allow="127.0.0.1",
            secret_key=Secret(base64.b64encode(b"k" * 32).decode()),
        )
    )
    yield made
    made.database.dispose()
    made.redis.close()
    made.queue.close()


@dataclass
class House:
    """Alice, an admin, and the worker that does what she asks for."""

    alice: Caller
    runtime: Runtime

    def run(self, session: str, provider: Any, message: Any = "hello") -> Any:
        begun = self.alice.post(f"/v1/sessions/{session}/runs", json={"message": message})
        assert begun.status_code == 202, begun.text
        execution.execute(replace(self.runtime, provider=provider), UUID(begun.json["id"]))
        return self.alice.get(f"/v1/runs/{begun.json['id']}").json

    def try_(self, session: str, provider: Any, **body: Any) -> Any:
        begun = self.alice.post(f"/v1/sessions/{session}/context/try", json=body)
        assert begun.status_code == 202, begun.text
        try_execution.execute(replace(self.runtime, provider=provider), UUID(begun.json["id"]))
        return self.alice.get(f"/v1/tries/{begun.json['id']}").json


@pytest.fixture
def house(runtime: Runtime) -> House:
    client = create_app(runtime).test_client()
    tenant = make_tenant(runtime.database)
    return House(make_caller(runtime.database, client, tenant, "alice", Role.ADMIN), runtime)
