"""Through gunicorn as it is run: what the test client cannot show."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPResponse
from typing import Any
from urllib.parse import quote

import pytest

from app.runtime import Runtime
from tests.factories import Caller, make_agent

pytestmark = pytest.mark.processes


@pytest.fixture
def port(runtime: Runtime) -> Iterator[int]:
    with closing(socket.socket()) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        number = listening.getsockname()[1]
        os.set_inheritable(listening.fileno(), True)
        server = subprocess.Popen(
            [
                *(sys.executable, "-m", "gunicorn", "--config", "python:app.server"),
                *("--bind", f"fd://{listening.fileno()}", "--workers", "1"),
                *("--log-level", "warning", "app.web:from_environment()"),
            ],
            env={
                **os.environ,  # noqa: TID251 (handed on, not read)
                "HANGO_DATABASE_URL": runtime.settings.database_url,
                "HANGO_REDIS_URL": runtime.settings.redis_url,
                "HANGO_RATE_LIMIT_PER_MINUTE": "0",
            },
            pass_fds=[listening.fileno()],
            stdout=subprocess.DEVNULL,
        )
    yield number
    server.terminate()
    server.wait(20)


def ask(port: int, method: str, target: str, headers: dict[str, str], body: Any = None) -> Any:
    """Send a request line exactly as given."""
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    with closing(connection):
        connection.putrequest(method, target, skip_accept_encoding=True)
        data = b"" if body is None else json.dumps(body).encode()
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            connection.putheader(name, value)
        connection.endheaders(data)
        reply = connection.getresponse()
        return reply.status, reply.getheader("Content-Type"), reply.read()


@pytest.mark.parametrize("key", ["k\xe9y", "k" * 100_000, "k" * 7000])
def test_strange_keys_are_401_in_json(port: int, key: str) -> None:
    status, kind, body = ask(port, "GET", "/v1/sessions", {"Authorization": f"Bearer {key}"})

    assert (status, kind) == (401, "application/problem+json"), body[:200]


def test_two_authorization_headers_are_401(port: int, member: Caller) -> None:
    with closing(socket.create_connection(("127.0.0.1", port), 20)) as plain:
        line = f"Authorization: Bearer {member.key}\r\n"
        plain.sendall(f"GET /v1/me HTTP/1.1\r\nHost: x\r\n{line}{line}\r\n".encode())
        reply = HTTPResponse(plain)
        reply.begin()
        assert reply.status == 401
        assert reply.getheader("Content-Type") == "application/problem+json"


def test_paths_arrive_as_they_were_sent(port: int, member: Caller) -> None:
    memory = f"/v1/agents/{make_agent(member)}/memory"
    headers = {"Authorization": f"Bearer {member.key}", "Content-Type": "application/json"}

    for path in (
        "/memories/R&D #1 50%.md",
        "/memories/a+b.md",
        "/memories/日本.md",
        "/memories/%41",
    ):
        for spelled in (quote(path, safe=""), quote(path), quote(path[1:])):
            status, _, body = ask(port, "PUT", f"{memory}/{spelled}", headers, {"content": "x"})
            assert (status, json.loads(body).get("path")) == (200, path)
    for spelled in ("memories//x", "memories/../x", "memories/%2e%2e/x", "memories/./x"):
        status, _, _ = ask(port, "PUT", f"{memory}/{spelled}", headers, {"content": "x"})
        assert status == 422, spelled


def test_a_body_without_a_length_is_limited_too(port: int, member: Caller) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    headers = {"Authorization": f"Bearer {member.key}", "Content-Type": "application/json"}
    with closing(connection):
        connection.request("POST", "/v1/agents", iter([b" " * 2**20] * 9), headers)
        reply = connection.getresponse()
        assert reply.status == 413, reply.read()
        assert reply.getheader("Content-Type") == "application/problem+json"


def test_the_server_is_up_soon(port: int) -> None:
    started = time.monotonic()

    assert ask(port, "GET", "/healthz", {})[0] == 200
    assert time.monotonic() - started < 20
