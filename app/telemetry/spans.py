"""Spans: begun where work is done, recorded when tracing is on, otherwise nothing.

Nothing of OpenTelemetry is imported here: a process that does not trace does not load it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Literal, NamedTuple, Protocol

Value = str | bool | int | float | Sequence[str]
Attributes = Mapping[str, Value | None]  # None: not known, and left out
Kind = Literal["internal", "server", "client", "producer", "consumer"]
Carrier = Mapping[str, str]  # `traceparent` and its like, as a message's headers carry them

NOTHING: Attributes = {}


class Span(Protocol):
    """A span that is under way. Attributes are never content: see app/telemetry/sieve.py."""

    @property
    def recorded(self) -> bool:
        """Whether anybody will see it. Where not, nothing needs to be found out for it."""

    def set(self, attributes: Attributes) -> None:
        """Add attributes."""

    def event(self, name: str, attributes: Attributes = NOTHING) -> None:
        """Note something that happened at this moment."""

    def failed(self, code: str) -> None:
        """Mark it as failed. `code` is one of app/errors.py, or the name of a type."""


class Ids(NamedTuple):
    """What ties a log line or an audit row to its trace, in hexadecimal."""

    trace: str
    span: str


class Tracing(Protocol):
    """What records spans."""

    def begun(
        self, name: str, kind: Kind, attributes: Attributes, sender: Carrier | None
    ) -> AbstractContextManager[Span]:
        """A span around a block. With `sender` it continues the trace of whoever sent this."""

    def current(self) -> Span:
        """The innermost span that is under way in this thread."""

    def ids(self) -> Ids | None:
        """Those of the innermost span."""

    def carrier(self) -> dict[str, str]:
        """What has to travel with a message for the trace to go on."""


class _Unrecorded:
    recorded = False

    def set(self, attributes: Attributes) -> None:
        pass

    def event(self, name: str, attributes: Attributes = NOTHING) -> None:
        pass

    def failed(self, code: str) -> None:
        pass


class _Off:
    @contextmanager
    def begun(
        self, name: str, kind: Kind, attributes: Attributes, sender: Carrier | None
    ) -> Iterator[Span]:
        del name, kind, attributes, sender
        yield UNRECORDED

    def current(self) -> Span:
        return UNRECORDED

    def ids(self) -> Ids | None:
        return None

    def carrier(self) -> dict[str, str]:
        return {}


UNRECORDED = _Unrecorded()
OFF = _Off()

_tracing: Tracing = OFF


def use(tracing: Tracing) -> None:
    """Record by this from now on. See app/telemetry/setup.py."""
    global _tracing
    _tracing = tracing


def begun(
    name: str,
    kind: Kind = "internal",
    attributes: Attributes = NOTHING,
    sender: Carrier | None = None,
) -> AbstractContextManager[Span]:
    """A span around a block of work. What the block raises marks it as failed and goes on."""
    return _tracing.begun(name, kind, attributes, sender)


def current() -> Span:
    """The innermost span that is under way in this thread."""
    return _tracing.current()


def ids() -> Ids | None:
    """The ids of the innermost span; None where nothing is recorded."""
    return _tracing.ids()


def carrier() -> dict[str, str]:
    """What has to travel with a message for its receiver to continue the trace."""
    return _tracing.carrier()
