"""The socket that the web server will listen on, taken before anything is started."""

from __future__ import annotations

import contextlib
import errno
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import click

FIRST_PORT = 8600
_TRIED = 100
_BACKLOG = 512
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (what to call them, not to bind)


def listen(host: str, port: int, known_url: str | None) -> socket.socket:
    """Listen on `port`, or, when it is 0, on the port of `known_url`, 8600, or the next free one.

    Holding the socket itself, and not only its number, leaves no moment in which somebody else
    could take it.

    Raises:
        click.ClickException: the port is taken, or the host is no address of this machine.
    """
    for candidate in [port] if port else _candidates(known_url):
        try:
            return _bound(host, candidate)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise click.ClickException(
                    f"Cannot listen on {host}, port {candidate}: {error.strerror}. "
                    "Set HANGO_HOST and HANGO_PORT."
                ) from error
    ports = f"Port {port} is" if port else f"The ports from {FIRST_PORT} on are all"
    raise click.ClickException(f"{ports} taken. Choose another with HANGO_PORT.")


def url_of(listening: socket.socket) -> str:
    """The address for a browser on this machine."""
    host, port = listening.getsockname()[:2]
    host = _EVERYWHERE.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _candidates(known_url: str | None) -> Iterator[int]:
    with contextlib.suppress(ValueError):
        if known_url and (known := urlsplit(known_url).port):
            yield known
    yield from range(FIRST_PORT, FIRST_PORT + _TRIED)


def _bound(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except BaseException:
        listening.close()
        raise
    return listening
