"""A collector that takes OTLP over HTTP on loopback, and keeps what it was sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Thread
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class Span:
    """One span as it came over the wire."""

    name: str
    kind: int
    trace: str
    id: str
    parent: str  # empty at the top
    service: str
    attributes: Mapping[str, Any]


class Collector:
    """A running one."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.metrics: list[tuple[str, str]] = []  # of each point: the process's id and the name
        self.bodies: list[bytes] = []
        self._arrival = Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Collector:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def named(self, name: str) -> list[Span]:
        return [each for each in self.spans if each.name == name]

    def wait_for(self, *names: str, timeout: float = 30) -> None:
        """Wait until a span of each of these names has come."""
        with self._arrival:
            if not self._arrival.wait_for(lambda: all(map(self.named, names)), timeout):
                raise TimeoutError(f"came: {sorted({each.name for each in self.spans})}")

    def take(self, path: str, body: bytes) -> None:
        with self._arrival:
            self.bodies.append(body)
            if path == "/v1/traces":
                self.spans += _spans(body)
            else:
                self.metrics += _metrics(body)
            self._arrival.notify_all()


def _handler(collector: Collector) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.take(self.path, body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    return Handler


def _spans(body: bytes) -> list[Span]:
    return [
        Span(
            name=span.name,
            kind=span.kind,
            trace=span.trace_id.hex(),
            id=span.span_id.hex(),
            parent=span.parent_span_id.hex(),
            service=str(_attributes(group.resource.attributes).get("service.name")),
            attributes=_attributes(span.attributes),
        )
        for group in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in group.scope_spans
        for span in scope.spans
    ]


def _metrics(body: bytes) -> list[tuple[str, str]]:
    return [
        (str(_attributes(group.resource.attributes).get("service.instance.id")), metric.name)
        for group in ExportMetricsServiceRequest.FromString(body).resource_metrics
        for scope in group.scope_metrics
        for metric in scope.metrics
    ]


def _attributes(pairs: Sequence[Any]) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in pairs}
