"""A line on stderr that says what is waited for, and for how long: on a terminal only."""

from __future__ import annotations

import os
import sys
import threading
import time
from itertools import cycle

from cli.text import columns, cut, visible

FRAMES = "|/-\\"
FRAME_SECONDS = 0.1


class Spinner:
    """Turns while something is waited for. Whoever prints stops it first: it owns its line.

    As a context it is gone at the end, however that comes.
    """

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._what = ""
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Spinner:
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def turn(self, what: str) -> None:
        """Show, from now on, that this is waited for. The time counts from the first word on."""
        self._what = visible(what)
        if self._thread is None and sys.stderr.isatty():
            self._stopped.clear()
            self._thread = threading.Thread(target=self._turning, name="spinner", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Take the line away."""
        if self._thread is not None:
            self._stopped.set()
            self._thread.join()
            self._thread = None

    def _turning(self) -> None:
        shown = 0
        for frame in cycle(FRAMES):
            text = cut(f"{frame} {self._what}  {elapsed(time.monotonic() - self._began)}", _room())
            _write(f"\r{text}{' ' * (shown - columns(text))}")
            shown = columns(text)
            if self._stopped.wait(FRAME_SECONDS):
                break
        _write(f"\r{' ' * shown}\r")


def elapsed(seconds: float) -> str:
    """A time for people: 8 s, 2 min 5 s."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes:,} min {rest} s" if minutes else f"{rest} s"


def _room() -> int:
    # The last column stays free: some terminals begin a new line when it is written.
    return (os.get_terminal_size(sys.stderr.fileno()).columns or 80) - 1


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
