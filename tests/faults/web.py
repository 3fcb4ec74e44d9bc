"""A web server as it is published, for tests that shut it down, fill it up or cut it off."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import msgspec

from app.settings import Settings
from tests.factories import until

CODE = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]  # names in lower case
    json: Any


@dataclass(frozen=True)
class Web:
    """A running server."""

    port: int
    process: subprocess.Popen[bytes]

    def ask(self, method: str, path: str, key: str = "", body: Any = None) -> Answer:
        """One request over a connection of its own."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            content = None
            if body is not None:
                content, headers["Content-Type"] = msgspec.json.encode(body), "application/json"
            connection.request(method, path, content, headers)
            reply = connection.getresponse()
            told = {name.lower(): value for name, value in reply.getheaders()}
            return Answer(reply.status, told, msgspec.json.decode(reply.read() or b"null"))

    def is_ready(self) -> bool:
        with suppress(OSError):
            return self.ask("GET", "/readyz").status == 200
        return False


@contextmanager
def serving(settings: Settings, folder: Path, **more: str) -> Iterator[Web]:
    """One process on these servers. `more`: its environment."""
    with closing(socket.socket()) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(512)
        os.set_inheritable(listening.fileno(), True)
        with (folder / "web.log").open("wb") as log:
            process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "gunicorn", "--config", "python:app.server"),
                    *("--bind", f"fd://{listening.fileno()}", "--workers", "1"),
                    *("--log-level", "warning", "app.web:from_environment()"),
                ],
                env={
                    "PATH": os.environ["PATH"],  # noqa: TID251 (handed on)
                    "PYTHONPATH": str(CODE),
                    "HANGO_DATABASE_URL": str(settings.database_url),
                    "HANGO_REDIS_URL": str(settings.redis_url),
                    "HANGO_RATE_LIMIT_PER_MINUTE": "0",
                    **more,
                },
                cwd=folder,
                pass_fds=[listening.fileno()],
                stdout=log,
                stderr=log,
            )
        web = Web(listening.getsockname()[1], process)
    try:
        until(web.is_ready, 60)
        yield web
    finally:
        process.kill()
        process.wait()
