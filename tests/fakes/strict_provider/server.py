"""The stand-in as an HTTP server: connections, records, faults. What it says: `service.py`."""

from __future__ import annotations

import json
import socket
import ssl
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Event, Lock, Thread
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tests.fakes.strict_provider.bindings import Mode
from tests.fakes.strict_provider.events import events_of, frame
from tests.fakes.strict_provider.faults import STREAM, Fault, Status
from tests.fakes.strict_provider.refusals import Refused, error_body
from tests.fakes.strict_provider.replies import Block, Reply
from tests.fakes.strict_provider.service import Script, Service

MESSAGES = "/v1/messages"
COUNT = "/v1/messages/count_tokens"
MODELS = "/v1/models"
CONTROL = "/_control"


@dataclass
class Recorded:
    """One request as it came."""

    method: str
    path: str  # with its query
    headers: dict[str, str]  # names in lower case
    body: bytes
    connection: int  # counted from 1
    at: float  # time.monotonic()
    status: int | None = None  # of the answer
    refusal: str | None = None  # hango's name of the rule that it broke
    answer: dict[str, Any] = field(default_factory=dict)  # the message, before any fault

    @cached_property
    def json(self) -> Any:
        return json.loads(self.body)


class StrictProvider:
    """A running stand-in; see the package."""

    def __init__(
        self,
        *,
        port: int = 0,
        mode: Mode = "strict",
        api_key: str | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.service = Service(mode, api_key)
        self.requests: list[Recorded] = []
        self.stopping = Event()
        self._arrival = Condition()
        self._scheme = "https" if tls else "http"
        self._server = _Server(("127.0.0.1", port), self, tls)
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> StrictProvider:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.close_connections()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._server.server_port}"

    @property
    def connections(self) -> int:
        """How many connections were ever accepted."""
        return self._server.accepted

    @property
    def calls(self) -> list[Recorded]:
        """The requests for an answer, in the order of their arrival."""
        return [each for each in self.requests if _path(each.path) == MESSAGES]

    @property
    def refusals(self) -> list[str]:
        """The rules that were broken, in order."""
        return [each.refusal for each in self.requests if each.refusal]

    @property
    def dropped(self) -> int:
        """How many blocks of thinking were left out because they stood behind another prefix."""
        return self.service.dropped

    def record(self, request: Recorded) -> None:
        with self._arrival:
            self.requests.append(request)
            self._arrival.notify_all()

    def wait_for_calls(self, number: int, timeout: float = 10.0) -> None:
        """Wait until that many requests for an answer have arrived."""
        with self._arrival:
            if not self._arrival.wait_for(lambda: len(self.calls) >= number, timeout):
                raise TimeoutError(f"{len(self.calls)} of {number} calls arrived")

    def reply(self, *blocks: Block, **details: Any) -> None:
        """Queue the next answer: its blocks, and the other fields of `Reply`."""
        self.service.replies.append(Reply(blocks=list(blocks), **details))

    def answer_by(self, script: Script | None) -> None:
        """Let `script` make the answers that are not queued."""
        self.service.script = script

    def fail(self, fault: Fault, *, times: int | None = 1, path: str = MESSAGES) -> None:
        """Let the next requests fail; `times=None`: all from now on."""
        self.service.fail(path, fault, times)

    def reset(self) -> None:
        """Forget requests, queued answers and faults; the cache and the signatures stay."""
        self.requests.clear()
        self.service.replies.clear()
        self.service.script = None
        self.service.heal()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def __init__(
        self, address: tuple[str, int], provider: StrictProvider, tls: ssl.SSLContext | None
    ) -> None:
        self.provider = provider
        self.accepted = 0
        self._open: dict[socket.socket, int] = {}
        self._lock = Lock()
        super().__init__(address, _Handler)
        if tls:  # each handshake in its own connection's thread
            self.socket = tls.wrap_socket(
                self.socket, server_side=True, do_handshake_on_connect=False
            )

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self.accepted += 1
            self._open[request] = self.accepted
        super().process_request(request, client_address)

    def number_of(self, request: Any) -> int:
        """Which connection this is, counted from 1."""
        with self._lock:
            return self._open[request]

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves is no news; everything else is printed by the base class."""
        if not isinstance(sys.exception(), OSError | _Stopped):
            super().handle_error(request, client_address)

    def close_connections(self) -> None:
        with self._lock:
            for each in self._open:
                _shut(each)


class _Stopped(Exception):
    """The stand-in ends while a fault still plays."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server
    _connection: int

    def setup(self) -> None:
        super().setup()
        self._connection = self.server.number_of(self.request)
        self._provider = self.server.provider
        self._service = self._provider.service

    def log_message(self, *_words: Any) -> None:
        """Quiet: requests are recorded instead."""

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        path = _path(self.path)
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if path.startswith(CONTROL):
            self._json(200, self._control(path, body))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Recorded(self.command, self.path, headers, body, self._connection, monotonic())
        self._provider.record(request)
        request_id = self._service.next_id("req")
        try:
            self._answer(path, request, request_id)
        except Refused as error:
            request.status, request.refusal = error.status, error.code
            self._json(error.status, error_body(error.kind, error.message, request_id), request_id)

    def _answer(self, path: str, request: Recorded, request_id: str) -> None:
        fault = self._service.next_fault(path)
        if isinstance(fault, Status):
            request.status = fault.status
            self._fail(fault, request_id)
            return
        self._service.admit(request.headers)
        request.status = 200
        if (self.command, path) == ("POST", MESSAGES):
            message, reply = self._service.message(request.body, request.headers)
            request.answer = message
            self.wait(reply.delay)
            if fault or request.json.get("stream"):
                self._stream(message, reply, fault, request_id)
            else:
                self._json(200, message, request_id)
            return
        if fault:
            fault.play(self, [], {"request-id": request_id})
        elif (self.command, path) == ("POST", COUNT):
            self._json(200, self._service.count(request.body, request.headers), request_id)
        elif (self.command, path) == ("GET", MODELS):
            self._json(200, self._service.models(), request_id)
        elif self.command == "GET" and path.startswith(f"{MODELS}/"):
            name = path.removeprefix(f"{MODELS}/")
            self._json(200, self._service.model(name), request_id)
        else:
            raise Refused(404, "not_found_error", "path", "Not found")

    def _stream(
        self, message: Mapping[str, Any], reply: Reply, fault: Fault | None, request_id: str
    ) -> None:
        headers = {"request-id": request_id, **_account()}
        if fault and not isinstance(fault, Status):
            fault.play(self, [frame(event) for event in events_of(message)], headers)
            return
        self.head(200, STREAM | headers)
        for event in events_of(message):
            self.wait(reply.pace)
            self.chunk(frame(event))
        self.end()

    def _fail(self, fault: Status, request_id: str) -> None:
        details = {"error_code": fault.error_code} if fault.error_code else {}
        if fault.body is not None:
            headers = {"content-type": "text/html", **fault.headers}
            self._plain(fault.status, fault.body.encode(), headers)
        else:
            body = error_body(fault.type, fault.message, request_id, **details)
            self._json(fault.status, body, request_id, fault.headers)

    def _control(self, path: str, body: bytes) -> Any:
        """For tests in other processes: POST replies and faults, GET what came."""
        if self.command == "POST":
            orders = msgspec.json.decode(body, type=_Orders)
            self._service.replies.extend(orders.replies)
            for fault in orders.faults:
                self._provider.fail(fault, times=orders.times)
        return [
            {
                "method": each.method,
                "path": each.path,
                "headers": each.headers,
                "body": each.body.decode("utf-8", "replace"),
                "status": each.status,
                "refusal": each.refusal,
                "connection": each.connection,
            }
            for each in self._provider.requests
        ]

    # The wire, as faults see it.

    def head(self, status: int, headers: dict[str, str]) -> None:
        self._start(status, {**headers, "transfer-encoding": "chunked"})

    def chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def end(self) -> None:
        self.wfile.write(b"0\r\n\r\n")

    def raw(self, data: bytes) -> None:
        self.wfile.write(data)

    def cut(self) -> None:
        self.close_connection = True
        _shut(self.connection)

    def wait(self, seconds: float) -> None:
        if seconds and self._provider.stopping.wait(seconds):
            raise _Stopped

    def _json(
        self,
        status: int,
        value: Any,
        request_id: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        kind = {"content-type": "application/json", "request-id": request_id}
        self._plain(status, json.dumps(value).encode(), {**kind, **_account(), **(headers or {})})

    def _plain(self, status: int, data: bytes, headers: Mapping[str, str]) -> None:
        self._start(status, {**headers, "content-length": str(len(data))})
        self.wfile.write(data)

    def _start(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


class _Orders(msgspec.Struct):
    replies: list[Reply] = []
    faults: list[Fault] = []
    times: int | None = 1


def _account() -> dict[str, str]:
    return {
        "anthropic-organization-id": "00000000-0000-4000-8000-000000000001",
        "anthropic-ratelimit-requests-limit": "1000",
        "anthropic-ratelimit-requests-remaining": "999",
    }


def _path(target: str) -> str:
    return urlsplit(target).path


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return
