"""A server outside, as tenants name them: honest by default, and hostile on demand."""

from __future__ import annotations

import gzip
import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

ENDLESS_PIECE = b"x" * 65_536


@dataclass(frozen=True)
class Received:
    """One request as it came."""

    method: str
    path: str  # with its query
    headers: dict[str, str]  # names in lower case
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Outside:
    """A running server. `/echo` answers with what it was sent; other paths misbehave as named."""

    port: int
    scheme: str
    received: list[Received] = field(default_factory=list)
    connections: list[int] = field(default_factory=list)
    closing: Event = field(default_factory=Event)
    answer: Any = None  # what `/answer` sends: (status, content type, bytes), or makes it

    def url(self, path: str = "/echo", host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.port}{path}"


@contextmanager
def outside(tls: ssl.SSLContext | None = None, *, host: str = "127.0.0.1") -> Iterator[Outside]:
    """Run one on loopback until the block ends."""

    class Handler(_Handler):
        pass

    server = ThreadingHTTPServer((host, 0), Handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    made = Outside(server.server_address[1], "https" if tls else "http")
    Handler.outside = made
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients that hang up
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    outside: Outside

    def do_GET(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Received(self.command, self.path, headers, self.rfile.read(length))
        self.outside.received.append(request)
        name = self.path.partition("?")[0].strip("/").replace("-", "_")
        with suppress(OSError):
            getattr(self, f"_{name}", self._echo)(request)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815

    def log_message(self, *_: Any) -> None:
        pass

    def _send(self, status: int, kind: str, body: bytes, **headers: str) -> None:
        self.send_response(status)
        if kind:
            self.send_header("content-type", kind)
        for header, value in headers.items():
            self.send_header(header.replace("_", "-"), value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _echo(self, request: Received) -> None:
        told = {
            "method": request.method,
            "path": request.path,
            "headers": request.headers,
            "body": request.body.decode("utf-8", "replace"),
        }
        self._send(200, "application/json", json.dumps(told).encode())

    def _answer(self, request: Received) -> None:
        answer = self.outside.answer
        self._send(*(answer(request) if callable(answer) else answer))

    def _redirect(self, request: Received) -> None:
        self._send(307, "", b"", location=request.path.partition("?to=")[2])

    def _gzip(self, request: Received) -> None:
        body = gzip.compress(b"0" * 50_000_000, 1)
        self._send(200, "text/plain", body, content_encoding="gzip")

    def _silent(self, request: Received) -> None:
        self.outside.closing.wait()

    def _trickle(self, request: Received) -> None:
        self.send_response(200)
        self.send_header("content-length", "100000")
        self.end_headers()
        while not self.outside.closing.wait(0.02):
            self.wfile.write(b"x")
            self.wfile.flush()

    def _slow_head(self, request: Received) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while not self.outside.closing.wait(0.02):
            self.wfile.write(b"x: y\r\n")
            self.wfile.flush()

    def _endless(self, request: Received) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/plain")
        self.end_headers()
        self.close_connection = True
        while not self.outside.closing.is_set():
            self.wfile.write(ENDLESS_PIECE)

    def _garbage(self, request: Received) -> None:
        self.wfile.write(b"\x00\xff\x16\x03 no such protocol\r\n\r\n")
        self.close_connection = True

    def _hang_up(self, request: Received) -> None:
        self.close_connection = True

    def _half(self, request: Received) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nonly this")
        self.close_connection = True
