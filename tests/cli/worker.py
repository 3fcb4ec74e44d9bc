"""A worker in a thread of this process: it carries out what the command line begins."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

from app.provider.base import Provider
from app.runtime import Runtime
from app.services import ablations, execution, try_execution

LOOKS_EVERY = 0.02  # seconds
AT_ONCE = timedelta(0)


@contextmanager
def working(runtime: Runtime, provider: Provider) -> Iterator[None]:
    """Carry out what waits for a worker, by this provider, for as long as the context is."""
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
            runs, tries = (list(each.waiting(AT_ONCE, 10)) for each in (system.runs, system.tries))
        for run_id in runs:
            execution.execute(runtime, run_id)
        for try_id in tries:
            try_execution.execute(runtime, try_id)
        ablations.sweep(runtime)
