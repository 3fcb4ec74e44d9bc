"""The API client: one request, one JSON answer, and every failure as one line for people."""

from __future__ import annotations

import json
import socket
import ssl
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from cli.configuration import Server
from cli.exits import Exit, Stop, exit_for

CONNECT_SECONDS = 10.0
MAX_FAULTS_SHOWN = 3
PIECE_BYTES = 64 * 1024
EVENTS = "text/event-stream"
SILENCE_SECONDS = 45.0  # three times what hango lets pass between two signs of life
LONGEST_EVENT_BYTES = 16 * 1024 * 1024

_HINTS = {
    401: "Sign in with `hango login`.",
    402: "Ask an admin of your tenant to raise the quota.",
    404: "It may be gone, or not yours: `hango sessions list` and `hango agents list` tell.",
    412: "Somebody else changes it too: look at it, and repeat your change.",
    413: "Send less at once.",
    500: "The server's log has more under this request id.",
    503: "Try again in a moment.",
}


class Body(NamedTuple):
    """What a request carries: its type, its length in bytes, and its pieces."""

    content_type: str
    length: int
    pieces: Iterable[bytes]


class Tagged(NamedTuple):
    """An answer, and the strong ETag of what it shows; None where it came without one."""

    document: Any
    etag: str | None
    retry_after: float | None = None  # seconds, where the server says when to come back


class Problem(Stop):
    """The server refused: a problem+json document, or as much of one as could be read."""

    def __init__(self, status: int, document: Mapping[str, Any], retry_after: str | None) -> None:
        self.status = status
        self.retry_after = _seconds(retry_after)
        self._document = document
        self._retry_after = retry_after
        self.code = _text(document.get("code")) or "unknown"
        self.title = _text(document.get("title")) or f"The server answered {status}"
        self.detail = _text(document.get("detail"))
        self.request_id = _text(document.get("request_id"))
        faults = document.get("errors")
        self.errors = [
            each for each in (faults if isinstance(faults, list) else []) if isinstance(each, dict)
        ]
        super().__init__(self._what(), self._hint(retry_after), exit_for(status))

    def with_errors(self, errors: list[dict[str, Any]]) -> Problem:
        """The same refusal with its faults told otherwise."""
        return Problem(self.status, {**self._document, "errors": errors}, self._retry_after)

    def _what(self) -> str:
        said = [self.detail or self.title, *map(_fault, self.errors[:MAX_FAULTS_SHOWN])]
        if len(self.errors) > MAX_FAULTS_SHOWN:
            said.append(f"and {len(self.errors) - MAX_FAULTS_SHOWN} more")
        return "; ".join(each.rstrip(" .") for each in said) + "."

    def _hint(self, retry_after: str | None) -> str:
        if self.status == 429 and retry_after and retry_after.isdigit():
            advice = f"Try again in {retry_after} s."
        else:
            advice = _HINTS.get(self.status, "")
        reference = ", ".join(
            each for each in (self.code, self.request_id and f"request {self.request_id}") if each
        )
        return f"{advice} ({reference})".strip()


class Api:
    """The HTTP API of one server. Every path is given as its segments, not yet encoded."""

    def __init__(self, server: Server, timeout_seconds: float) -> None:
        self.server = server
        self.timeout_seconds = timeout_seconds

    def get(self, *segments: str, query: Mapping[str, object] | None = None) -> Any:
        """The JSON, or the text of the CSV, at this path; parameters that are None are left out."""
        return self._send("GET", target(segments, query)).document

    def waited(self, *segments: str, seconds: int) -> Tagged:
        """GET what the server holds back until it is final, or for this many seconds."""
        patient = Api(self.server, self.timeout_seconds + seconds)
        return patient._send("GET", target(segments, {"wait": seconds}))

    def event_lines(self, *segments: str, last_event_id: str | None) -> Iterator[bytes]:
        """The lines of a stream of events as they come, until it ends or breaks off.

        Raises:
            Problem: the server refuses to stream.
            Stop: it answers with something else, cannot be reached, or is silent for too long.
        """
        headers = {"Accept": "text/event-stream, application/problem+json"}
        if last_event_id:
            headers["Last-Event-ID"] = last_event_id
        patient = Api(self.server, max(self.timeout_seconds, SILENCE_SECONDS))
        connection = self._connection()
        try:
            patient._request(
                connection, "GET", target(segments), None, {**self._headers(None), **headers}
            )
            with connection.getresponse() as response:
                if response.headers.get_content_type() != EVENTS:
                    self._answer(response, self._read(response))
                    raise Stop("The server answers with no events.")
                while line := response.readline(LONGEST_EVENT_BYTES):
                    yield line
        except (OSError, HTTPException) as error:
            raise self._broken(error) from None
        finally:
            connection.close()

    def tagged(self, *segments: str) -> Tagged:
        """The JSON at this path, and the ETag by which a change can name it."""
        return self._send("GET", target(segments))

    def create(self, *segments: str, body: object) -> Any:
        """POST `body`; `bytes` are JSON already, and go as they are.

        The request carries an Idempotency-Key, so a proxy that sends it twice makes one thing.
        """
        headers = {"Idempotency-Key": _once()}
        return self._send("POST", target(segments), _json_body(body), headers).document

    def ask(self, *segments: str, body: object, query: Mapping[str, object] | None = None) -> Any:
        """POST `body` where that changes nothing."""
        return self._send("POST", target(segments, query), _json_body(body)).document

    def post(self, *segments: str, body: object, etag: str) -> Tagged:
        """POST `body`, provided that what it changes still has this ETag."""
        return self._send("POST", target(segments), _json_body(body), {"If-Match": etag})

    def upload(self, *segments: str, body: Body) -> Any:
        """POST a body that is sent piece by piece, however large."""
        headers = {"Idempotency-Key": _once()}
        return self._send("POST", target(segments), body, headers).document

    def change(self, *segments: str, body: object, etag: str | None = None) -> Any:
        """PATCH with `body`; with `etag`, provided that what it changes still has that."""
        headers = {"If-Match": etag} if etag else None
        return self._send("PATCH", target(segments), _json_body(body), headers).document

    def put(self, *segments: str, body: object, etag: str | None = None) -> Tagged:
        """PUT `body` as what is at this path; with `etag`, provided that that still has it."""
        headers = {"If-Match": etag} if etag else None
        return self._send("PUT", target(segments), _json_body(body), headers)

    def delete(self, *segments: str) -> Any:
        """DELETE what is at this path; what the server then says of it, if anything."""
        return self._send("DELETE", target(segments)).document

    def items(self, *segments: str, query: Mapping[str, object]) -> Iterator[Any]:
        """Every item of a list from its first page to its last, loaded page by page."""
        after = None
        while True:
            page = listed(self.get(*segments, query={**query, "after": after}))
            yield from page["items"]
            after = page["next"]
            if not after:
                return

    def _send(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Tagged:
        connection = self._connection()
        try:
            self._request(
                connection, method, path, body, {**self._headers(body), **(headers or {})}
            )
            with connection.getresponse() as response:
                document = self._answer(response, self._read(response))
                return Tagged(
                    document,
                    _strong(response.headers.get("ETag")),
                    _seconds(response.headers.get("Retry-After")),
                )
        except (OSError, HTTPException) as error:
            raise self._broken(error) from None
        finally:
            connection.close()

    def _connection(self) -> HTTPConnection:
        kind = HTTPSConnection if self.server.scheme == "https" else HTTPConnection
        return kind(
            self.server.host, self.server.port, timeout=min(CONNECT_SECONDS, self.timeout_seconds)
        )

    def _headers(self, body: Body | None) -> dict[str, str]:
        headers = {
            "Accept": "application/json",
            "Authorization": f"Bearer {self.server.key}",
            "Connection": "close",
            "User-Agent": "hango-cli",
        }
        if body is not None:
            headers |= {"Content-Type": body.content_type, "Content-Length": str(body.length)}
        return headers

    def _request(
        self,
        connection: HTTPConnection,
        method: str,
        path: str,
        body: Body | None,
        headers: dict[str, str],
    ) -> None:
        connection.connect()
        connection.sock.settimeout(self.timeout_seconds)
        pieces = None if body is None else iter(body.pieces)
        try:
            connection.request(method, self.server.prefix + path, pieces, headers)
        except (BrokenPipeError, ConnectionResetError):
            # A server that refuses a large body answers before it has read it all; what it
            # said may wait in the socket, and getresponse tells.
            return

    def _read(self, response: HTTPResponse) -> bytes:
        """The whole body, within the timeout however slowly it trickles in."""
        deadline = time.monotonic() + self.timeout_seconds
        pieces = []
        while piece := response.read1(PIECE_BYTES):
            pieces.append(piece)
            if time.monotonic() > deadline:
                raise TimeoutError
        if response.length:
            raise ConnectionResetError
        return b"".join(pieces)

    def _answer(self, response: HTTPResponse, body: bytes) -> Any:
        if 300 <= response.status < 400:
            raise Stop(
                f"{self.server.url} redirects to {response.headers.get('Location', '?')}.",
                "Give the server's own URL by --url.",
            )
        document = self._document(response, body)
        if response.status >= 400:
            known = document if isinstance(document, dict) else {}
            raise Problem(response.status, known, response.headers.get("Retry-After"))
        return document

    def _document(self, response: HTTPResponse, body: bytes) -> Any:
        if response.status == 204:
            return None
        kind = response.headers.get_content_type()
        try:
            if kind == "application/json" or kind.endswith("+json"):
                return json.loads(body)
            if kind == "text/csv":
                return body.decode(errors="replace")
        except (ValueError, RecursionError):
            kind = "broken JSON"
        raise Stop(
            f"{self.server.url} answers {response.status} with {kind}, not as hango does.",
            "Is this the server's URL? Give another by --url.",
            exit_for(response.status) if response.status >= 500 else Exit.FAILED,
        )

    def _broken(self, error: OSError | HTTPException) -> Stop:
        url = self.server.url
        if isinstance(error, TimeoutError):
            return Stop(
                f"{url} did not answer within {self.timeout_seconds:g} s.",
                "Try again, or wait longer with --timeout SECONDS.",
                Exit.TIMED_OUT,
            )
        if isinstance(error, ssl.SSLError):
            return Stop(
                f"No secure connection to {url}: {error.reason or error.strerror}.",
                "Check the certificate, or that the server speaks https.",
            )
        if isinstance(error, ConnectionRefusedError | socket.gaierror):
            return Stop(
                f"No server answers at {url}: {error.strerror}.",
                "Start one with `hango up`, or name another by --url.",
            )
        if isinstance(error, ConnectionError | HTTPException):
            return Stop(
                f"{url} cut the connection, or does not speak HTTP.",
                "Look at the server's log, or name another by --url.",
            )
        return Stop(f"{url} cannot be reached: {error.strerror or error}.", "Check the network.")


def target(segments: Iterable[str], query: Mapping[str, object] | None = None) -> str:
    """The path and query of a request, in which every segment and value is encoded whole.

    Raises:
        Stop: a segment is empty, `.` or `..`, which servers and proxies take for other paths.
    """
    path = ""
    for segment in segments:
        if segment in ("", ".", ".."):
            raise Stop(
                f"'{segment}' is no id.", "List the ids with the `list` command.", Exit.USAGE
            )
        path += "/" + quote(segment, safe="", errors="replace")
    given = {name: value for name, value in (query or {}).items() if value is not None}
    return f"{path}?{urlencode(given, quote_via=quote, errors='replace')}" if given else path


def listed(answer: Any) -> dict[str, Any]:
    """A page of a list, checked: `items` and the cursor of the next page."""
    if isinstance(answer, dict) and isinstance(answer.get("items"), list):
        return {"items": answer["items"], "next": answer.get("next")}
    raise Stop("The server answers with no list.", "Are server and CLI of one version?")


def _json_body(body: object) -> Body:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Body("application/json", len(data), [data])


def _strong(etag: str | None) -> str | None:
    # A proxy that compresses an answer makes its tag weak, which If-Match never takes. What hango
    # tags is a version, whatever the bytes that show it.
    return etag.removeprefix("W/") if etag else None


def _seconds(retry_after: str | None) -> float | None:
    # The other form, a date, is nothing that hango sends.
    return float(retry_after) if retry_after and retry_after.isdecimal() else None


def _once() -> str:
    return str(uuid.uuid4())


def _fault(fault: Mapping[str, Any]) -> str:
    at, said = _text(fault.get("at")), _text(fault.get("detail")) or _text(fault.get("code"))
    return f"{at}: {said}" if at else said


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
