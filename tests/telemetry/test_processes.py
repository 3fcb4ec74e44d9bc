"""Telemetry of real processes: one trace across all of them, and nothing lost when they stop."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from app.runtime import Runtime, build_runtime
from app.settings import Settings
from app.web import create_app
from tests.celery_worker import CODE, started
from tests.factories import Caller, make_caller, make_session, make_tenant, until
from tests.fakes.collector import Collector, Span
from tests.fakes.strict_provider import StrictProvider

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
MODEL = "claude-sonnet-4-5"
HI = {"message": "hi"}


@pytest.fixture
def runtime(settings: Settings, clean_database: None, clean_redis: None) -> Iterator[Runtime]:
    made = build_runtime(settings)
    yield made
    made.database.dispose()
    made.redis.close()
    made.queue.close()


@pytest.fixture
def alice(runtime: Runtime) -> Caller:
    client = create_app(runtime).test_client()
    return make_caller(runtime.database, client, make_tenant(runtime.database), "alice")


@contextmanager
def serving(settings: Settings, **more: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """gunicorn with an application that is loaded before it forks: the harder case."""
    with closing(socket.socket()) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        os.set_inheritable(listening.fileno(), True)
        server = subprocess.Popen(
            [
                *(sys.executable, "-m", "gunicorn", "--config", "python:app.server", "--preload"),
                *("--bind", f"fd://{listening.fileno()}", "--log-level", "warning"),
                *("--workers", "1", "app.web:from_environment()"),
            ],
            env={
                "PATH": os.environ["PATH"],  # noqa: TID251 (handed on)
                "PYTHONPATH": str(CODE),
                "HANGO_DATABASE_URL": str(settings.database_url),
                "HANGO_REDIS_URL": str(settings.redis_url),
                **more,
            },
            pass_fds=[listening.fileno()],
            stdout=subprocess.DEVNULL,
        )
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", server
        finally:
            server.terminate()
            server.wait(20)


def run(caller: Caller, server: str, session: str) -> Any:
    """Ask for a run within a trace that began elsewhere, and wait for its end."""
    headers = {
        "Authorization": f"Bearer {caller.key}",
        "Content-Type": "application/json",
        "traceparent": f"00-{TRACE}-00f067aa0ba902b7-01",
    }
    url = f"{server}/v1/sessions/{session}/runs"
    with urlopen(Request(url, json.dumps(HI).encode(), headers), timeout=60) as reply:
        begun = json.load(reply)

    def now() -> Any:
        return caller.get(f"/v1/runs/{begun['id']}").json

    until(lambda: now()["finished_at"] is not None, 60)
    return now()


@pytest.mark.processes
@pytest.mark.parametrize("pool", ["threads", "prefork"])
def test_a_trace_runs_from_the_request_through_the_queue_to_the_model_call(
    alice: Caller, settings: Settings, tmp_path: Path, pool: str
) -> None:
    session = make_session(alice)
    with Collector() as collector, StrictProvider() as provider:
        told = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
            # Nothing is sent but when a process stops.
            "OTEL_BSP_SCHEDULE_DELAY": "600000",
            "OTEL_METRIC_EXPORT_INTERVAL": "600000",
        }
        with (
            started(settings, provider.url, tmp_path, "runs", pool=pool, **told) as worker,
            serving(settings, **told) as (url, _),
        ):
            ended = run(alice, url, session)
            worker.send_signal(signal.SIGTERM)
            worker.wait(30)
        ours = [each for each in collector.spans if each.trace == TRACE]

        assert ended["status"] == "succeeded", ended
        assert chain(ours, f"chat {MODEL}") == [
            ("hango-worker", f"chat {MODEL}"),
            ("hango-worker", "invoke_agent"),
            ("hango-worker", "process hango.runs.execute"),
            ("hango-web", "send hango.runs.execute"),
            ("hango-web", "POST /v1/sessions/<uuid:session_id>/runs"),
        ]
        (call,) = provider.calls
        assert not [name for name in call.headers if "trace" in name or "baggage" in name]
        processes = {process for process, _ in collector.metrics}
        assert len(processes) == 2, "each process counts in its own name"


@pytest.mark.processes
def test_a_collector_that_is_away_costs_nothing(
    alice: Caller, settings: Settings, tmp_path: Path
) -> None:
    session = make_session(alice)
    with StrictProvider() as provider:
        told = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
            "OTEL_BSP_SCHEDULE_DELAY": "50",
        }
        with started(settings, provider.url, tmp_path, "runs", **told) as worker:
            path = f"/v1/runs/{alice.post(f'/v1/sessions/{session}/runs', json=HI).json['id']}"
            until(lambda: alice.get(path).json["finished_at"] is not None, 60)
            worker.send_signal(signal.SIGTERM)
            worker.wait(30)

        ended = alice.get(path).json
    assert ended["status"] == "succeeded", ended


_IMPORTS = """
import sys, app.web, app.api.routes, app.runtime, app.settings, workers.app
runtime = app.runtime.build_runtime(app.settings.Settings.from_environment())
app.web.create_app(runtime)
parts = ("sdk", "exporter", "instrumentation")  # the API alone is light, and redis-py looks at it
kinds = (*(f"opentelemetry.{part}" for part in parts), "google.protobuf", "prometheus_client")
print([name for name in sys.modules if name.startswith(kinds)])
"""


def test_without_a_collector_nothing_is_loaded_that_it_would_need() -> None:
    environment = {
        "PATH": os.environ["PATH"],  # noqa: TID251 (handed on)
        "HANGO_DATABASE_URL": "postgresql://hango@127.0.0.1:9/hango",
        "HANGO_REDIS_URL": "redis://127.0.0.1:9",
    }
    command = [sys.executable, "-c", _IMPORTS]

    loaded = subprocess.run(
        command, env=environment, cwd=CODE, capture_output=True, text=True, check=True
    )

    assert loaded.stdout.strip() == "[]"


def chain(spans: list[Span], name: str) -> list[tuple[str, str]]:
    """The span of that name and those above it: service and name of each."""
    by_id = {each.id: each for each in spans}
    (span,) = (each for each in spans if each.name == name)
    found = [(span.service, span.name)]
    while span.parent in by_id:
        span = by_id[span.parent]
        found.append((span.service, span.name))
    return found
