"""How gunicorn serves hango: `gunicorn --config python:app.server "app.web:from_environment()"`.

Threads are cheap while they wait, so there is one for everybody who may wait for a run or a try or
follow one, and some beyond them for all others. Options of the command line win over these.
"""

from __future__ import annotations

import gc
import resource
import signal
from types import FrameType
from typing import Any

from app.settings import BadSettings, Settings
from app.telemetry import setup as telemetry

_OTHERS = 24  # threads for requests that do not wait
_IDLE = 1000  # connections kept open beside those that have a thread
_MOST_FILES = 65_536

try:
    _settings = Settings.from_environment()
except BadSettings as error:
    raise SystemExit(str(error)) from None

worker_class = "gthread"
workers = 2
threads = _settings.max_waits + _settings.max_streams + _OTHERS
worker_connections = threads + _IDLE
keepalive = 15  # seconds: clients that ask now and then find their connection open
graceful_timeout = 30  # seconds for what is answered when hango stops; who waits is let go at once
# So that a key of any length gets hango's own 401 and not the server's 431.
limit_request_field_size = 128 * 1024
control_socket_disable = True


def on_starting(_server: Any) -> None:
    """Let a process hold as many connections as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def worker_exit(_server: Any, _worker: Any) -> None:
    """Send the last spans and metrics of a process that ends."""
    telemetry.stop()


def post_worker_init(worker: Any) -> None:
    """When the process is asked to stop, let go at once of those who wait."""
    # What was loaded stays: each look at it for garbage would hold up all requests for long.
    gc.collect()
    gc.freeze()

    from app.api import waiting  # noqa: PLC0415 - the parent process, which reads this, loads no Flask

    stop = signal.getsignal(signal.SIGTERM)

    def leave(number: int, frame: FrameType | None) -> None:
        waiting.let_go(worker.wsgi)
        if callable(stop):
            stop(number, frame)

    signal.signal(signal.SIGTERM, leave)
