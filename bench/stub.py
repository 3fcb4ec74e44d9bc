"""A provider that costs next to nothing: `python -m bench.stub DELAY` prints its port and serves.

Answers each request after DELAY seconds with a short text, as a stream or as one body; where the
request speaks of `USE_TOOLS`, with a call of `write_todos` for its first `TURNS` - 1 answers. One
thread and one selector, so that five hundred calls at a time weigh little. GET /stats says how many
connections and requests there were.
"""

from __future__ import annotations

import heapq
import itertools
import json
import selectors
import socket
import sys
import time
from contextlib import suppress
from typing import Any

USE_TOOLS = "use your tools"
TURNS = 10

_USAGE = {"input_tokens": 10, "output_tokens": 5}
_ORDER = itertools.count()


class Stub:
    """The server and what it has still to answer."""

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._selector = selectors.DefaultSelector()
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
        self._received: dict[socket.socket, bytes] = {}
        self._due: list[tuple[float, int, socket.socket, bytes]] = []
        self.connections = self.requests = 0

    @property
    def port(self) -> int:
        return int(self._listening.getsockname()[1])

    def serve(self) -> None:
        """Until it is killed."""
        self._selector.register(self._listening, selectors.EVENT_READ)
        while True:
            now = time.monotonic()
            wait = max(0.0, self._due[0][0] - now) if self._due else None
            for key, _ in self._selector.select(wait):
                if key.fileobj is self._listening:
                    self._accept()
                else:
                    self._read(key.fileobj)  # type: ignore[arg-type]
            while self._due and self._due[0][0] <= time.monotonic():
                _, _, connection, answer = heapq.heappop(self._due)
                with suppress(OSError):
                    connection.sendall(answer)

    def _accept(self) -> None:
        connection, _ = self._listening.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received[connection] = b""
        self._selector.register(connection, selectors.EVENT_READ)
        self.connections += 1

    def _read(self, connection: socket.socket) -> None:
        with suppress(OSError):
            if got := connection.recv(1 << 20):
                self._received[connection] += got
                self._take(connection)
                return
        self._selector.unregister(connection)
        del self._received[connection]
        connection.close()

    def _take(self, connection: socket.socket) -> None:
        """Answer what has come as a whole; clients here never send the next before that."""
        head, separator, body = self._received[connection].partition(b"\r\n\r\n")
        if not separator or len(body) < _length(head):
            return
        self._received[connection] = b""
        if head.startswith(b"GET /stats"):
            stats = {"connections": self.connections, "requests": self.requests}
            connection.sendall(_whole(stats))
            return
        self.requests += 1
        due = time.monotonic() + self._delay
        heapq.heappush(self._due, (due, next(_ORDER), connection, _answer(body)))


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return 0


def _answer(body: bytes) -> bytes:
    wants_tools = USE_TOOLS.encode() in body and body.count(b'"tool_result"') < TURNS - 1
    block = _call(body.count(b'"tool_result"')) if wants_tools else {"type": "text", "text": "Yes."}
    reason = "tool_use" if wants_tools else "end_turn"
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": [], "stop_reason": None, "stop_sequence": None, "usage": _USAGE,
    }  # fmt: skip
    if b'"stream":true' not in body.replace(b" ", b""):
        return _whole(message | {"content": [block], "stop_reason": reason})
    return _stream(message, block, reason)


def _call(number: int) -> dict[str, Any]:
    todos = [{"content": f"step {number}", "status": "pending"}]
    return {
        "type": "tool_use",
        "id": f"toolu_{number}",
        "name": "write_todos",
        "input": {"todos": todos},
    }


def _stream(message: dict[str, Any], block: dict[str, Any], reason: str) -> bytes:
    if block["type"] == "text":
        begun, delta = block | {"text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        text = json.dumps(block["input"])
        begun, delta = block | {"input": {}}, {"type": "input_json_delta", "partial_json": text}
    ended = {"stop_reason": reason, "stop_sequence": None}
    events = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": begun},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": _USAGE},
        {"type": "message_stop"},
    ]
    frames = [f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events]
    return _http("text/event-stream", "".join(frames).encode())


def _whole(body: dict[str, Any]) -> bytes:
    return _http("application/json", json.dumps(body).encode())


def _http(kind: str, content: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(content)}\r\n\r\n"
    return head.encode() + content


if __name__ == "__main__":
    stub = Stub(float(sys.argv[1]))
    print(stub.port, flush=True)
    stub.serve()
