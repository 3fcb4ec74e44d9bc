"""What may leave on a span: an allow-list, whoever made the span.

The libraries that make spans of requests, statements and commands put addresses with their
queries, the texts of exceptions, and with somebody's environment variables whole headers on them.
None of that passes here.
"""

from __future__ import annotations

from collections.abc import Mapping

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.trace import Link, Status
from opentelemetry.util.types import AttributeValue

from app.telemetry import names

# HTTP and database conventions, as they are and as they were: OTEL_SEMCONV_STABILITY_OPT_IN
# chooses. Statements come without their values, commands with `?` in place of their arguments.
_OF_LIBRARIES = frozenset(
    {
        "http.request.method",
        "http.response.status_code",
        "http.route",
        "http.method",
        "http.status_code",
        "http.flavor",
        "http.scheme",
        "url.scheme",
        "network.protocol.version",
        "db.system",
        "db.system.name",
        "db.name",
        "db.namespace",
        "db.statement",
        "db.query.text",
        "db.operation.name",
        "db.redis.args_length",
        "db.redis.database_index",
    }
)
PASSES = _OF_LIBRARIES | names.ATTRIBUTES.keys()

# On metrics. The libraries' own names the client's and the server's host as it was asked for.
LABELS = {
    "http.request.method",
    "http.response.status_code",
    "http.route",
    "http.method",
    "http.status_code",
    "http.target",  # the route: see below
    "url.scheme",
    "http.scheme",
    "state",
    *(label for metric in names.METRICS.values() for label in metric.attributes),
}


def sifted(span: ReadableSpan) -> ReadableSpan:
    """The span with what may leave, and nothing else."""
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=_passing(span.attributes),
        events=[_event(each) for each in span.events if each.name in names.EVENTS],
        links=[Link(each.context) for each in span.links],
        kind=span.kind,
        status=Status(span.status.status_code),  # without its text, which is often an exception's
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _event(event: Event) -> Event:
    return Event(event.name, _passing(event.attributes), event.timestamp)


def _passing(attributes: Mapping[str, AttributeValue] | None) -> dict[str, AttributeValue]:
    return {name: value for name, value in (attributes or {}).items() if name in PASSES}
