"""Sockets that keep to the bounds of the call they serve, whatever the other side does.

A read timeout starts anew with each byte, so that a byte a second defeats it; a watchdog has no
socket to close before the answer's head is there; signals and Celery's limits do not exist in
every pool. Here every single wait of a connection asks the call how long it may last.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterable, Iterator
from typing import Any

import httpcore2

from app.provider.call import current

CONNECT_SECONDS = 5.0  # for each address of the host
HANDSHAKE_SECONDS = 10.0
_PIECE = 65_536  # bytes handed to the system at once


class BoundedBackend(httpcore2.NetworkBackend):
    """Opens TCP connections whose every wait is bounded.

    The one wait out of reach is the system's look-up of the host name.
    """

    def __init__(self) -> None:
        self._system = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - the call knows better
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect to the first address of `host` that answers."""
        failure: Exception = httpcore2.ConnectError("The host has no address.")
        options = list(socket_options or ())
        for address in _addresses(host, port):
            patience = current().patience(CONNECT_SECONDS)
            try:
                return BoundedStream(
                    self._system.connect_tcp(address, port, patience, local_address, options)
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        current().patience()  # where it was the deadline, it is no fault of the host
        raise failure


class BoundedStream(httpcore2.NetworkStream):
    """A connection that outlives calls; each read and write keeps to those of the present one."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream
        self._socket: socket.socket = stream.get_extra_info("socket")

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        """What has come; empty when the other side has ended."""
        call = current()
        while True:
            self._socket.settimeout(call.patience())
            try:
                data = self._socket.recv(max_bytes)
            except TimeoutError:
                continue
            except OSError as error:
                raise httpcore2.ReadError from error
            call.received(len(data))
            return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        """Send all of `buffer`."""
        call = current()
        left = memoryview(buffer)
        while left:
            self._socket.settimeout(call.patience())
            call.in_flight = True
            try:
                left = left[self._socket.send(left[:_PIECE]) :]
            except TimeoutError:
                continue
            except OSError as error:
                raise httpcore2.WriteError from error

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore2.NetworkStream:
        """The same connection, encrypted. The handshake as a whole is bounded."""
        patience = current().patience(HANDSHAKE_SECONDS)
        try:
            return BoundedStream(self._stream.start_tls(ssl_context, server_hostname, patience))
        except httpcore2.ConnectTimeout:
            current().patience()
            raise

    def get_extra_info(self, info: str) -> Any:
        """What the connection pool asks, such as whether the other side has closed."""
        return self._stream.get_extra_info(info)


def _addresses(host: str, port: int) -> Iterator[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpcore2.ConnectError from error
    for _family, _kind, _protocol, _name, place in found:
        yield str(place[0])
