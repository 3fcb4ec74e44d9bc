"""A whole hango for a browser: web, worker and sweeps, whose model answers as the test tells it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.domain.principals import Role
from app.errors import Failure
from app.runtime import Runtime, build_runtime
from app.services import runs, tries
from app.settings import Settings
from cli import configuration
from cli.exits import Stop
from cli.http import Api
from cli.operate import first_session
from tests import celery_worker
from tests.factories import make_caller, make_tenant, until
from tests.fakes.strict_provider import StrictProvider

QUEUES = "calls,runs,upkeep"
_SWEEP_SECONDS = 0.5
_LEASE = "6s"


@dataclass
class Hango:
    """What runs, and how to ask it beside the browser."""

    url: str
    runtime: Runtime
    provider: StrictProvider
    folder: Path
    worker: subprocess.Popen[bytes] | None = None
    _stack: list[Any] = field(default_factory=list)

    def person(self, role: Role = Role.ADMIN) -> Person:
        """Somebody new, in a tenant of their own."""
        tenant = make_tenant(self.runtime.database, "Acme")
        # It asks through HTTP, so no client of Flask's is needed.
        made = make_caller(self.runtime.database, None, tenant, "ada", role)  # type: ignore[arg-type]
        return Person(self, made.key)

    def start_worker(self) -> None:
        """Have jobs done from now on; nothing where that is so already."""
        if self.worker is not None and self.worker.poll() is None:
            return
        # A browser beside it takes all there is: a worker that is late is not lost yet.
        started = celery_worker.started(
            self.runtime.settings, self.provider.url, self.folder, QUEUES, HANGO_RUN_LEASE=_LEASE
        )
        self.worker = started.__enter__()
        self._stack.append(started)

    def stop_worker(self) -> None:
        """End all that were started, at once."""
        while self._stack:
            self._stack.pop().__exit__(None, None, None)
        self.worker = None


@dataclass
class Person:
    """Somebody with a key."""

    hango: Hango
    key: str

    @property
    def api(self) -> Api:
        """The API, asked with the key."""
        return Api(configuration.parse(self.hango.url, "the test", self.key), 60.0)

    def sample(self, folder: Path) -> str:
        """Import the sample session; its id."""
        found = first_session.ensure(self.api, folder)
        assert found
        return found

    def session(self, *messages: dict[str, Any], agent: dict[str, Any] | None = None) -> str:
        """A session that holds these messages; its id."""
        about = {"name": "helper", "model": "claude-sonnet-4-5", "system_prompt": "Help."}
        agent_id = self.api.create("v1", "agents", body=about | (agent or {}))["id"]
        session: str = self.api.create("v1", "sessions", body={"agent_id": agent_id})["id"]
        for at in range(0, len(messages), 500):
            some = {"messages": list(messages[at : at + 500])}
            self.api.create("v1", "sessions", session, "messages", body=some)
        return session

    def context(self, session: str) -> Any:
        """What inspect says."""
        return self.api.get("v1", "sessions", session, "context")


@contextmanager
def running(settings: Settings, folder: Path) -> Iterator[Hango]:
    """A hango on a free port, with these servers."""
    with StrictProvider() as provider, _served(settings, provider.url, folder) as url:
        runtime = build_runtime(replace(settings, rate_limit_per_minute=0))
        hango = Hango(url, runtime, provider, folder)
        with _swept(runtime):
            until(lambda: _answers(url), 60)
            yield hango
        hango.stop_worker()
        runtime.database.dispose()
        runtime.redis.close()
        runtime.queue.close()


@contextmanager
def _served(settings: Settings, provider_url: str, folder: Path) -> Iterator[str]:
    with closing(socket.socket()) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        os.set_inheritable(listening.fileno(), True)
        port = listening.getsockname()[1]
        with (folder / "web.log").open("wb") as log:
            server = subprocess.Popen(
                [
                    *(sys.executable, "-m", "gunicorn", "--config", "python:app.server"),
                    *("--bind", f"fd://{listening.fileno()}", "--workers", "1"),
                    *("--log-level", "warning", "app.web:from_environment()"),
                ],
                env={
                    "PATH": os.environ["PATH"],  # noqa: TID251 (handed on)
                    "PYTHONPATH": str(celery_worker.CODE),
                    "HANGO_DATABASE_URL": str(settings.database_url),
                    "HANGO_REDIS_URL": str(settings.redis_url),
                    "HANGO_ANTHROPIC_API_KEY": "sk-ant-test",
                    "HANGO_ANTHROPIC_BASE_URL": provider_url,
                    "HANGO_RATE_LIMIT_PER_MINUTE": "0",
                },
                cwd=folder,
                pass_fds=[listening.fileno()],
                stdout=log,
                stderr=log,
            )
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(20)


@contextmanager
def _swept(runtime: Runtime) -> Iterator[None]:
    """Sweep as beat has it done, and oftener."""
    ended = threading.Event()

    def sweep() -> None:
        while not ended.wait(_SWEEP_SECONDS):
            with suppress(Failure):
                runs.sweep(runtime)
                tries.sweep(runtime)

    thread = threading.Thread(target=sweep, daemon=True)
    thread.start()
    yield
    ended.set()
    thread.join()


def _answers(url: str) -> bool:
    with suppress(Stop):
        Api(configuration.parse(url, "the test", ""), 5.0).get("healthz")
        return True
    return False
