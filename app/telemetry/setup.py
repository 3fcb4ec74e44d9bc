"""Turns telemetry on for a process, when OTEL_* variables say where it goes to.

Off, nothing of OpenTelemetry's SDK is loaded. On, it is started once: in a web process before it
may fork (the SDK's threads start again in the children), in a worker by its first job, which is
behind the fork.
"""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from app.settings import Settings
from app.telemetry import logs, metrics, spans

if TYPE_CHECKING:
    from app.telemetry.sdk import Sdk

_SDK = "opentelemetry.sdk.metrics"
LAST_SECONDS = 5  # for the last export of a process

_lock = threading.Lock()
_sdk: Sdk | None = None


def start(settings: Settings, process: str) -> None:
    """Turn on what the settings ask for. `process` names it: hango-web, hango-worker."""
    wanted = settings.otel_spans, settings.otel_metrics
    with _lock:
        if not any(wanted) or _sdk is not None:
            return
        from app.telemetry import sdk  # noqa: PLC0415 (most of a second, and only when it is on)

        logs.adopt("opentelemetry")
        use(sdk.exporting(process, spans=wanted[0], metrics=wanted[1]))
        atexit.register(stop)


def use(sdk: Sdk | None) -> None:
    """Record by these providers from now on; None: record nothing."""
    global _sdk
    from app.telemetry import recording  # noqa: PLC0415 (as above)

    _sdk = sdk
    spans.use(spans.OFF if sdk is None else recording.RecordedTracing(sdk.tracing))
    metrics.use(metrics.OFF if sdk is None else recording.RecordedMetering(sdk.metering))


@contextmanager
def unnoticed() -> Iterator[None]:
    """For the import of a library that loads the SDK wherever it finds it, asked or not.

    redis-py does, for metrics of its own; a third of the time of its import goes there.
    """
    if _SDK in sys.modules:
        yield
        return
    sys.modules[_SDK] = None  # type: ignore[assignment]  # what Python takes for "not installed"
    try:
        yield
    finally:
        del sys.modules[_SDK]


def watch_app(app: Any) -> None:
    """Trace the requests to this Flask application. Before any other hook is added to it."""
    if _sdk is not None:
        _sdk.watch_app(app)


def watch_engine(engine: Any) -> None:
    """Trace the statements of this SQLAlchemy engine."""
    if _sdk is not None:
        _sdk.watch_engine(engine)


def watch_redis(client: Any) -> None:
    """Trace the commands of this Redis client."""
    if _sdk is not None:
        _sdk.watch_redis(client)


def stop() -> None:
    """Send what has gathered, and record nothing more.

    What cannot be sent soon is lost: a process that is to end does not wait for a collector.
    """
    with _lock:
        if (sdk := _sdk) is None:
            return
        use(None)
    closing = threading.Thread(target=sdk.close, name="telemetry", daemon=True)
    with suppress(RuntimeError):  # at the very end Python starts no thread any more
        closing.start()
        closing.join(LAST_SECONDS)
