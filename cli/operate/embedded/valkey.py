"""One Valkey (it speaks Redis) on a unix socket, with its data in the state folder."""

from __future__ import annotations

import contextlib
import socket
import time
from contextlib import ExitStack
from pathlib import Path
from signal import Signals

from cli.operate.embedded.binaries import valkey_program
from cli.operate.embedded.failures import EmbeddedFailure
from cli.operate.embedded.ownership import OwnedProcess, Program
from cli.operate.embedded.sockets import socket_folder

_START_WITHIN = 30.0  # seconds
_STOP_WITHIN = 10.0
_PROBE_EVERY = 0.01
_ANSWERS_WITHIN = 1.0


class Valkey:
    """The server of one state folder; the caller holds the folder's lock.

    Its socket is for the starting user alone, so it needs no password.
    """

    def __init__(self, state: Path) -> None:
        self._state = state
        self._program_file = valkey_program()
        self._stack = ExitStack()
        self._socket = Path()

    def start(self) -> OwnedProcess:
        """Start it and wait until it answers.

        Raises:
            EmbeddedFailure: it did not start, or did not answer in time.
        """
        with ExitStack() as stack:
            self._socket = stack.enter_context(socket_folder(None)) / "valkey"
            process = OwnedProcess(self._program())
            stack.callback(process.stop, _STOP_WITHIN)
            self._wait_for(process)
            self._stack = stack.pop_all()
        return process

    def stop(self) -> None:
        """Write everything down and stop."""
        self._stack.close()

    @property
    def url(self) -> str:
        """The address, in redis-py's form."""
        return f"unix://{self._socket}"

    def _program(self) -> Program:
        data = self._state / "valkey"
        data.mkdir(mode=0o700, exist_ok=True)
        return Program(
            name="valkey",
            command=[
                *(self._program_file, "--port", "0", "--daemonize", "no"),
                *("--unixsocket", self._socket, "--unixsocketperm", "700"),
                *("--dir", data, "--appendonly", "yes", "--save", ""),
            ],
            log=self._state / "logs" / "valkey.log",
            stop_with=Signals.SIGTERM,
            orphaned_with=Signals.SIGTERM,
            environment={"LC_ALL": "C"},
            folder=data,
        )

    def _wait_for(self, process: OwnedProcess) -> None:
        deadline = time.monotonic() + _START_WITHIN
        while not _answers(self._socket):
            if process.exit_code is not None:
                raise EmbeddedFailure(f"Valkey did not start:\n{process.last_words()}")
            if time.monotonic() > deadline:
                raise EmbeddedFailure(f"Valkey did not answer in {_START_WITHIN:.0f} s.")
            time.sleep(_PROBE_EVERY)


def _answers(path: Path) -> bool:
    """Whether it takes commands: it listens before its data are loaded, and says LOADING then."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
        client.settimeout(_ANSWERS_WITHIN)
        client.connect(str(path))
        client.sendall(b"PING\r\n")
        return client.recv(64).startswith(b"+PONG")
    return False
