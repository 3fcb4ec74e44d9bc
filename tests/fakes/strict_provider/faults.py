"""Ways in which a provider fails, each played over a real connection.

`after` is the number of events that still arrive. A fault holds from its own call to the end of
the connection or of the stand-in, whichever is first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from tests.fakes.strict_provider.events import frame

FOREVER = 10_000.0  # seconds: longer than any test


class Wire(Protocol):
    """The server's end of one connection."""

    def head(self, status: int, headers: dict[str, str]) -> None: ...
    def chunk(self, data: bytes) -> None: ...
    def end(self) -> None: ...
    def raw(self, data: bytes) -> None: ...
    def cut(self) -> None: ...
    def wait(self, seconds: float) -> None: ...


STREAM = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}


class Status(msgspec.Struct, tag_field="kind", tag="status"):
    """An error instead of an answer."""

    status: int
    type: str = "api_error"
    message: str = "Something went wrong"
    headers: dict[str, str] = {}  # retry-after, x-should-retry …
    error_code: str | None = None
    body: str | None = None  # instead of the API's own shape: what a proxy says


class StreamFault(msgspec.Struct, tag_field="kind"):
    """A fault of the stream. `play` sends what the client gets of `frames`."""

    def play(self, wire: Wire, frames: Sequence[bytes], headers: dict[str, str]) -> None:
        raise NotImplementedError


class ErrorEvent(StreamFault, tag="error_event"):
    """The API reports an error within the stream."""

    after: int = 3
    type: str = "overloaded_error"
    message: str = "Overloaded"

    def play(self, wire: Wire, frames: Sequence[bytes], headers: dict[str, str]) -> None:
        error = {"type": "error", "error": {"type": self.type, "message": self.message}}
        _send(wire, [*frames[: self.after], frame(error)], headers)
        wire.end()


class Cut(StreamFault, tag="cut"):
    """The connection ends within the stream; before its head where `after` is None."""

    after: int | None = 3

    def play(self, wire: Wire, frames: Sequence[bytes], headers: dict[str, str]) -> None:
        if self.after is not None:
            _send(wire, frames[: self.after], headers)
        wire.cut()


class Silence(StreamFault, tag="silence"):
    """Nothing more comes, and the connection stays; not even a head where `after` is None."""

    after: int | None = None
    seconds: float = FOREVER

    def play(self, wire: Wire, frames: Sequence[bytes], headers: dict[str, str]) -> None:
        if self.after is not None:
            _send(wire, frames[: self.after], headers)
        wire.wait(self.seconds)
        wire.cut()


class Trickle(StreamFault, tag="trickle"):
    """A byte now and then, from the head of the answer on or from its body on."""

    seconds: float = 1.0  # between two bytes
    head: bool = True

    def play(self, wire: Wire, frames: Sequence[bytes], headers: dict[str, str]) -> None:
        if self.head:
            for byte in b"HTTP/1.1 200 OK\r\nx-slow: " + b"a" * 10_000:
                self._drip(wire, bytes([byte]))
        _send(wire, (), headers)
        for byte in b"".join(frames):
            wire.wait(self.seconds)
            wire.chunk(bytes([byte]))
        wire.end()

    def _drip(self, wire: Wire, byte: bytes) -> None:
        wire.raw(byte)
        wire.wait(self.seconds)


class PingStorm(StreamFault, tag="ping_storm"):
    """Pings, and nothing else any more."""

    after: int = 3
    seconds: float = 0.01  # between two pings

    def play(self, wire: Wire, frames: Sequence[bytes], headers: dict[str, str]) -> None:
        _send(wire, frames[: self.after], headers)
        while True:
            wire.chunk(frame({"type": "ping"}))
            wire.wait(self.seconds)


class EndEarly(StreamFault, tag="end_early"):
    """A proper end, long before the answer's."""

    after: int = 3

    def play(self, wire: Wire, frames: Sequence[bytes], headers: dict[str, str]) -> None:
        _send(wire, frames[: self.after], headers)
        wire.end()


class Malformed(StreamFault, tag="malformed"):
    """An event that is no JSON."""

    after: int = 3
    data: str = '{"type": "content_block_delta", "delta": {"text": "half'

    def play(self, wire: Wire, frames: Sequence[bytes], headers: dict[str, str]) -> None:
        broken = f"event: content_block_delta\ndata: {self.data}\n\n".encode()
        _send(wire, [*frames[: self.after], broken, *frames[self.after :]], headers)
        wire.end()


class Extra(StreamFault, tag="extra"):
    """Events that a client cannot know, between those it knows. The answer is whole."""

    events: list[dict[str, Any]]
    after: int = 2

    def play(self, wire: Wire, frames: Sequence[bytes], headers: dict[str, str]) -> None:
        more = [frame(event) for event in self.events]
        _send(wire, [*frames[: self.after], *more, *frames[self.after :]], headers)
        wire.end()


class Linger(StreamFault, tag="linger"):
    """The whole answer comes, and then the connection neither ends nor goes on."""

    def play(self, wire: Wire, frames: Sequence[bytes], headers: dict[str, str]) -> None:
        _send(wire, frames, headers)
        wire.wait(FOREVER)
        wire.cut()


Fault = (
    Status
    | ErrorEvent
    | Cut
    | Silence
    | Trickle
    | PingStorm
    | EndEarly
    | Malformed
    | Extra
    | Linger
)


def _send(wire: Wire, frames: Sequence[bytes], headers: dict[str, str]) -> None:
    wire.head(200, STREAM | headers)
    for each in frames:
        wire.chunk(each)
