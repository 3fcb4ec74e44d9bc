"""A few long-lived clients for many concurrent calls."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Generic, Protocol, TypeVar

CALLS_PER_CLIENT = 32  # one client's lock is felt from about a hundred concurrent calls on
MOST_CLIENTS = 32


class Closable(Protocol):
    """Something with connections."""

    def close(self) -> None:
        """Close them."""


C = TypeVar("C", bound=Closable)


class Clients(Generic[C]):
    """Clients made when they are first needed, and kept.

    The first with room serves a call, so that a quiet process reuses one connection. Connections
    do not survive a fork: a child makes its own clients.
    """

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._made: list[C] = []
        self._calls: list[int] = []
        self._reset()

    def __len__(self) -> int:
        return len(self._made)

    @contextmanager
    def one(self) -> Iterator[C]:
        """A client for one call."""
        if self._process != os.getpid():
            self._reset()
        with self._lock:
            slot = self._slot()
            client, calls = self._made[slot], self._calls
            calls[slot] += 1
        try:
            yield client
        finally:
            with self._lock:
                calls[slot] -= 1

    def close(self) -> None:
        """Close every connection. Calls that still run lose theirs."""
        with self._lock:
            made = self._made
            self._made = []
            self._calls = []
        for client in made:
            client.close()

    def _slot(self) -> int:
        for slot, calls in enumerate(self._calls):
            if calls < CALLS_PER_CLIENT:
                return slot
        if len(self._made) < MOST_CLIENTS:
            self._made.append(self._make())
            self._calls.append(0)
            return len(self._made) - 1
        return self._calls.index(min(self._calls))

    def _reset(self) -> None:
        self._process = os.getpid()
        self._lock = Lock()
        self._made = []
        self._calls = []
