"""How long work with a server outside may take, and how it is stopped on request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from app.errors import OutsideFailed, OutsideTooSlow

T = TypeVar("T")

Cancelled = Callable[[], bool]

ATTENTION = 0.5  # seconds until `cancelled` is asked again
CLOSING_SECONDS = 1.0  # for what the work does when it is stopped

TOO_SLOW = "The server did not answer in time."
STOPPED = "There is no result: the call was stopped on request."


def never() -> bool:
    """Nobody cancels."""
    return False


async def bounded(work: Coroutine[Any, Any, T], seconds: float, cancelled: Cancelled) -> T:
    """What the work comes to, if that is within `seconds` and before it is cancelled.

    Raises:
        OutsideTooSlow
        OutsideFailed: it was cancelled.
    """
    loop = asyncio.get_running_loop()
    # What work that was stopped still fails with would be logged, with whatever it holds.
    loop.set_exception_handler(lambda _loop, _context: None)
    deadline = loop.time() + seconds
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            left = deadline - loop.time()
            if left <= 0:
                raise OutsideTooSlow(TOO_SLOW)
            if cancelled():
                raise OutsideFailed(STOPPED)
            await asyncio.wait({task}, timeout=min(left, ATTENTION))
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=CLOSING_SECONDS)
