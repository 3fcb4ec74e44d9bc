from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from typing import get_type_hints

import pytest

from app.launch import Launch
from app.settings import BadSettings, Settings


@pytest.fixture
def environment(monkeypatch):
    monkeypatch.setenv("HANGO_DATABASE_URL", "postgresql://hango:secret@host/hango")
    monkeypatch.setenv("HANGO_REDIS_URL", "redis://host:6379/0")
    return monkeypatch


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HANGO_DATABASE_POOL", "0"),
        ("HANGO_MAX_BODY_BYTES", "-1"),
        ("HANGO_MAX_TURNS", "0"),
        ("HANGO_MAX_WAITS", "-1"),
        ("HANGO_RATE_LIMIT_PER_MINUTE", "-4"),
        ("HANGO_RUN_TIMEOUT", "-1"),
        ("HANGO_TRY_RETENTION", "0"),
        ("HANGO_CONTEXT_TRY_TIMEOUT", "soon"),
        ("HANGO_LOG_LEVEL", "chatty"),
        ("HANGO_DATABASE_URL", "mysql://host"),
        ("HANGO_OUTBOUND_ALLOW", "10.0.0.0/99"),
        ("HANGO_SECRET_KEY", "dG9vIHNob3J0"),
        ("HANGO_OLD_SECRET_KEY", "not base64 at all, though it is long enough"),
        ("HANGO_LANGFUSE", "perhaps"),
        ("HANGO_METRICS_TOKEN", "two words"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_TRACES_EXPORTER", "console"),
    ],
)
def test_a_value_that_makes_no_sense_stops_the_start_and_is_named(environment, variable, value):
    environment.setenv(variable, value)

    with pytest.raises(BadSettings) as refused:
        Settings.from_environment()

    assert variable in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("port", ["-1", "65536", "99999", "http"])
def test_a_port_that_is_none_stops_the_start(environment, port):
    environment.setenv("HANGO_PORT", port)

    with pytest.raises(BadSettings, match="HANGO_PORT"):
        Launch.from_environment()


def test_several_bad_values_are_named_at_once(environment):
    environment.setenv("HANGO_MAX_TURNS", "0")
    environment.setenv("HANGO_LOG_LEVEL", "chatty")

    with pytest.raises(BadSettings, match=r"HANGO_MAX_TURNS.*HANGO_LOG_LEVEL"):
        Settings.from_environment()


@pytest.mark.parametrize("kind", [Settings, Launch])
def test_every_number_and_every_span_has_bounds(kind):
    types = get_type_hints(kind)
    numbers = [each for each in fields(kind) if types[each.name] in (int, timedelta)]

    assert [each.name for each in numbers if each.metadata["check"] is None] == []


@pytest.mark.parametrize(
    ("variables", "spans", "metrics"),
    [
        ({}, False, False),
        ({"ENDPOINT": "http://c:4318"}, True, True),
        ({"TRACES_ENDPOINT": "http://c:4318/v1/traces"}, True, False),
        ({"METRICS_ENDPOINT": "http://c:4318/v1/metrics"}, False, True),
    ],
)
def test_telemetry_is_on_where_it_is_told_where_to_go(environment, variables, spans, metrics):
    for name, value in variables.items():
        environment.setenv(f"OTEL_EXPORTER_OTLP_{name}", value)

    settings = Settings.from_environment()

    assert (settings.otel_spans, settings.otel_metrics) == (spans, metrics)


def test_telemetry_is_turned_off_by_its_own_variables(environment):
    environment.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318")
    environment.setenv("OTEL_TRACES_EXPORTER", "none")
    assert not Settings.from_environment().otel_spans
    environment.setenv("OTEL_SDK_DISABLED", "true")
    assert not Settings.from_environment().otel_metrics
