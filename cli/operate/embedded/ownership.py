"""Child processes that never outlive their owner, not even when it is killed with -9."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL, Signals
from typing import IO, TypedDict

from cli.operate.embedded.account import Account

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_LARGEST_LOG = 8 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What to run, and how it is told to end."""

    name: str
    command: Sequence[str | os.PathLike[str]]
    log: Path
    stop_with: Signals
    orphaned_with: Signals  # sent by the system when the owner was killed
    environment: Mapping[str, str] = field(default_factory=dict)
    account: Account | None = None  # None: the owner's own
    folder: Path = Path("/")
    inherits: Sequence[int] = ()  # file descriptors that the child keeps


class OwnedProcess:
    """A running program.

    On Linux the kernel signals the child when the *thread* that started it ends: start programs
    from the main thread. Elsewhere a shell on the other end of a pipe does the same.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        with _opened_log(program.log) as log:
            self._process: subprocess.Popen[bytes] = subprocess.Popen(
                [os.fspath(each) for each in program.command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=dict(program.environment),
                cwd=program.folder,
                # The terminal's Ctrl-C reaches the owner alone, who stops its children in order.
                start_new_session=True,
                pass_fds=program.inherits,
                preexec_fn=_die_with_owner(program.orphaned_with),
                **switched_to(program.account),
            )
        self._watchdog = (
            None if sys.platform == "linux" else Watchdog(self._process.pid, program.orphaned_with)
        )

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """How it ended; None while it runs."""
        return self._process.poll()

    def ask_to_stop(self) -> None:
        """Send the program's own signal, and don't wait."""
        if self._watchdog:
            self._watchdog.dismiss()
            self._watchdog = None
        if self._process.poll() is None:
            self._process.send_signal(self.program.stop_with)

    def stop(self, grace: float) -> None:
        """End it: the program's own signal, then SIGKILL for its group after `grace` seconds."""
        self.ask_to_stop()
        try:
            self._process.wait(grace)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, SIGKILL)
            self._process.wait()

    def last_words(self, lines: int = 15) -> str:
        """The end of its log."""
        text = self.program.log.read_bytes()[-16_384:].decode(errors="replace")
        return "\n".join(text.splitlines()[-lines:])


class Watchdog:
    """Sends a signal to a process once the owner of this object is gone, in whatever way."""

    def __init__(self, pid: int, signal: Signals) -> None:
        reading, self._writing = os.pipe()
        # `read` returns when the last writing end is closed: that is when the owner is gone.
        self._shell = subprocess.Popen(
            ["/bin/sh", "-c", 'read -r _; kill -"$0" "$1"', str(int(signal)), str(pid)],
            stdin=reading,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(reading)

    def dismiss(self) -> None:
        """Stop watching."""
        self._shell.kill()
        self._shell.wait()
        os.close(self._writing)


def _die_with_owner(signal: Signals) -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    # Everything that allocates happens before the fork; the hook only makes two system calls.
    prctl = ctypes.CDLL(None).prctl
    owner = os.getpid()

    def hook() -> None:
        prctl(_PR_SET_PDEATHSIG, int(signal))
        if os.getppid() != owner:  # it died between the fork and the line above
            os._exit(1)

    return hook


class Switch(TypedDict, total=False):
    """The arguments of `subprocess` that change the account."""

    user: int
    group: int
    extra_groups: list[int]


def switched_to(account: Account | None) -> Switch:
    """What to give to `subprocess` so that the child runs as `account`; None: as we do."""
    if account is None:
        return {}
    return {"user": account.uid, "group": account.gid, "extra_groups": []}


def _opened_log(path: Path) -> IO[bytes]:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size > _LARGEST_LOG:
            path.replace(path.with_suffix(".log.1"))
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "wb")
