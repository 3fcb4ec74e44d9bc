"""Looks up the addresses of a host. The system's look-up cannot be stopped: nobody waits for it."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import ip_address

from app.networks import Address

LookUp = Callable[[str], Sequence[str]]
"""The addresses of a host's name, as text. Raises OSError where there are none."""

MOST_AT_ONCE = 64  # look-ups that a resolver leaves hanging

_slots = threading.BoundedSemaphore(MOST_AT_ONCE)


def by_the_system(host: str) -> Sequence[str]:
    """What the system's resolver tells."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


async def addresses_of(host: str, look_up: LookUp) -> list[Address]:
    """The addresses of a host, in the resolver's order.

    Given up with the task that waits; the thread goes on until the resolver has answered.

    Raises:
        OSError: there are none, or too many look-ups hang.
    """
    if not _slots.acquire(blocking=False):
        raise OSError("too many look-ups")
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Sequence[str]] = loop.create_future()

    def told(found: Sequence[str] | None) -> None:
        if answer.done():
            return
        if found:
            answer.set_result(found)
        else:
            answer.set_exception(OSError("no address"))

    def work() -> None:
        found: Sequence[str] | None = None
        try:
            found = look_up(host)
        except (OSError, UnicodeError):
            pass
        finally:
            _slots.release()
            with suppress(RuntimeError):  # the loop has ended: nobody waits any more
                loop.call_soon_threadsafe(told, found)

    threading.Thread(target=work, name="look-up", daemon=True).start()
    return [ip_address(each) for each in await answer]
