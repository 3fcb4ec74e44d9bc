"""A worker in a thread of this process: it carries out what the command line begins."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

from app.provider.base import Provider
from app.runtime import Runtime
from app.services import execution

LOOKS_EVERY = 0.02  # seconds


@contextmanager
def working(runtime: Runtime, provider: Provider) -> Iterator[None]:
    """Carry out runs that wait for a worker, by this provider, for as long as the context is."""
    own, over = replace(runtime, provider=provider), threading.Event()
    thread = threading.Thread(target=_work, args=(own, over), name="worker")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _work(runtime: Runtime, over: threading.Event) -> None:
    while not over.wait(LOOKS_EVERY):
        with runtime.database.system() as system:
            waiting = list(system.runs.waiting(timedelta(0), 10))
        for run_id in waiting:
            execution.execute(runtime, run_id)
