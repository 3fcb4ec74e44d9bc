"""The command line in this process, and a server with canned answers.

The canned server is for what a hango server must never say (HTML, half an answer, nothing). What
hango does say is tested against hango.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from flask import Flask
from structlog.testing import capture_logs
from werkzeug.serving import make_server

from app.domain.principals import Role
from app.runtime import Runtime
from cli.main import run
from tests.cli.shell import KEY, Canned, Request, Result
from tests.conftest import Process
from tests.factories import Caller, make_agent, make_caller, make_session, make_tenant
from tests.history import assistant, tool_result, tool_use, user

# Two parallel calls with their results in two messages: messages 2 to 4 are one group.
SPREAD = [
    user("look around " * 30),
    tool_use("p1", "p2"),
    tool_result("p1"),
    tool_result("p2"),
    assistant("done"),
    user("next"),
]

Asks = Callable[..., Result]


@dataclass(frozen=True)
class Site:
    """A running hango, and a person who may use it."""

    url: str
    ann: Caller
    runtime: Runtime

    def saved(self, target: str, kind: str = "sessions") -> dict[str, tuple[str, Any]]:
        """What the saved overrides of a session or an agent do with each part."""
        stored = self.ann.get(f"/v1/{kind}/{target}/context-overrides").json["overrides"]
        return {each["part"]: (each["action"], each.get("replacement")) for each in stored}


@pytest.fixture
def server() -> Iterator[Canned]:
    canned = Canned()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            body = self.rfile.read(length) if canned.reads_bodies else b""
            canned.requests.append(
                Request(self.command, self.path, dict(self.headers.items()), body)
            )
            chosen = canned.answers.pop(0) if len(canned.answers) > 1 else canned.answers[0]
            chosen(self)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 (http.server's names)

        def log_message(self, *args: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    canned.url = f"http://127.0.0.1:{listening.server_port}"
    yield canned
    listening.shutdown()
    thread.join()
    listening.server_close()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, an empty current folder, and no variable of the person who tests."""
    folder = tmp_path / "home"
    here = folder / "here"
    here.mkdir(parents=True)
    for name in [name for name in os.environ if name.startswith(("HANGO_", "XDG_"))]:  # noqa: TID251
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.chdir(here)
    return folder


@pytest.fixture
def hango(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run a command line in this process, with pipes for a terminal."""

    def call(*arguments: str, stdin: str | bytes = b"") -> Result:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        streams = {
            name: io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors=errors)
            for name, data, errors in (
                ("stdin", data, "strict"),
                ("stdout", b"", "backslashreplace"),
                ("stderr", b"", "backslashreplace"),
            )
        }
        with monkeypatch.context() as patch:
            for name, stream in streams.items():
                patch.setattr(sys, name, stream)
            code = run(arguments)
        return Result(code, _printed(streams["stdout"]), _printed(streams["stderr"]))

    return call


def _printed(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8", "surrogatepass")  # type: ignore[attr-defined]


@pytest.fixture
def asks(
    server: Canned, hango: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """As `hango`, with the canned server as the one to ask."""
    monkeypatch.setenv("HANGO_API_URL", server.url)
    monkeypatch.setenv("HANGO_API_KEY", KEY)
    return hango


@pytest.fixture(scope="session")
def served(process: Process) -> Iterator[str]:
    """The URL of hango itself."""
    with serving(process.app) as url:
        yield url


@contextmanager
def serving(app: Flask) -> Iterator[str]:
    """Serve it on loopback; the URL."""
    listening = make_server("127.0.0.1", 0, app, threaded=True)
    thread = Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{listening.server_port}"
    listening.shutdown()
    thread.join()
    listening.server_close()


@pytest.fixture
def site(served: str, process: Process, clean_database: None, clean_redis: None) -> Iterator[Site]:
    """hango itself, and somebody who uses it."""
    runtime = process.runtime
    tenant = make_tenant(runtime.database)
    # The server's log goes to the stdout of this process, which is also the command's here.
    with process.app.test_client() as client, capture_logs():
        ann = make_caller(runtime.database, client, tenant, "ann", Role.ADMIN)
        yield Site(served, ann, runtime)


@pytest.fixture
def on_site(
    site: Site, hango: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """As `hango`, with the real server as the one to ask."""
    monkeypatch.setenv("HANGO_API_URL", site.url)
    monkeypatch.setenv("HANGO_API_KEY", site.ann.key)
    return hango


@pytest.fixture
def agent(site: Site) -> str:
    return make_agent(site.ann)


@pytest.fixture
def session(site: Site, agent: str) -> str:
    return make_session(site.ann, agent, *SPREAD)


@pytest.fixture
def context(on_site: Asks, session: str) -> Asks:
    """`hango context NAME --session …`, which must go well."""

    def call(name: str, *arguments: str, **more: Any) -> Result:
        ended = on_site("context", name, "--session", session, *arguments, **more)
        assert ended.code == 0, ended.err
        return ended

    return call


@pytest.fixture
def refused(on_site: Asks, session: str) -> Asks:
    """The same, which must end in one line on stderr; gives its exit code and the line."""

    def call(name: str, *arguments: str, **more: Any) -> tuple[int, str]:
        ended = on_site("context", name, "--session", session, *arguments, **more)
        assert (ended.out, ended.err.count("\n")) == ("", 1)
        return ended.code, ended.err

    return call
