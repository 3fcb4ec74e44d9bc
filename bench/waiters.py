"""Many clients that wait for an answer, in one thread: each is a socket with a request sent."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections.abc import Iterable
from urllib.parse import urlsplit


class Waiters:
    """Clients of one server. `answered`: when each got its answer, by `time.perf_counter()`."""

    def __init__(self, url: str, key: str) -> None:
        parts = urlsplit(url)
        self._address = (parts.hostname, parts.port)
        self._key = key
        self._selector = selectors.DefaultSelector()
        self._closing = False
        self.answered: dict[int, float] = {}
        self.heads: dict[int, bytes] = {}
        self._sockets: list[socket.socket] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def begin(self, paths: Iterable[str]) -> None:
        """Send one request for each path, every one over a connection of its own."""
        for path in paths:
            connection = socket.create_connection(self._address)
            head = f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self._key}\r\n\r\n"
            connection.sendall(head.encode())
            self._selector.register(connection, selectors.EVENT_READ, len(self._sockets))
            self._sockets.append(connection)

    def wait(self, number: int, seconds: float) -> bool:
        """Whether so many have been answered in time."""
        until = time.perf_counter() + seconds
        while len(self.answered) < number and time.perf_counter() < until:
            time.sleep(0.001)
        return len(self.answered) >= number

    def close(self) -> None:
        self._closing = True
        self._thread.join()
        for each in self._sockets:
            each.close()

    def _read(self) -> None:
        while not self._closing:
            if not self._selector.get_map():
                time.sleep(0.01)
                continue
            for key, _ in self._selector.select(0.05):
                now = time.perf_counter()
                self.heads[key.data] = key.fileobj.recv(65536)  # type: ignore[union-attr]
                self.answered[key.data] = now
                self._selector.unregister(key.fileobj)
