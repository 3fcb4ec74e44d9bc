"""A worker as it is started in production, for tests that kill it or let it wait."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.settings import Settings

CODE = Path(__file__).resolve().parents[1]


@contextmanager
def started(
    settings: Settings,
    provider_url: str,
    folder: Path,
    queue: str,
    *,
    pool: str = "threads",
    **more: str,
) -> Iterator[subprocess.Popen[bytes]]:
    """A worker of these queues, whose model provider answers at this URL.

    `more` is added to its environment.
    """
    environment = {
        "PATH": os.environ["PATH"],  # noqa: TID251 (handed on)
        "PYTHONPATH": str(CODE),
        "HANGO_DATABASE_URL": str(settings.database_url),
        "HANGO_REDIS_URL": str(settings.redis_url),
        "HANGO_ANTHROPIC_API_KEY": "sk-ant-test",
        "HANGO_ANTHROPIC_BASE_URL": provider_url,
        "HANGO_RUN_LEASE": "1s",
        **more,
    }
    command = [
        *(sys.executable, "-m", "celery", "--app", "workers.app", "worker", "--queues", queue),
        *("--pool", pool, "--concurrency", "4", "--without-gossip", "--without-mingle"),
    ]
    with (folder / "worker.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.kill()
            process.wait()
