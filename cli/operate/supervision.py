"""Runs programs until one of them dies or somebody asks to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import click

from cli.operate.embedded.ownership import OwnedProcess, Program

_LOOK_EVERY = 0.2  # seconds
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """Somebody asked to stop. As with KeyboardInterrupt, only the outermost level catches it."""


@contextmanager
def stopping_on_signals() -> Iterator[None]:
    """Turn the first INT, TERM or HUP into `Stopped`; later ones change nothing.

    A background job of a shell has INT ignored, and `kill` sends TERM: both must stop in order.
    """
    before = {each: signal.signal(each, _stop) for each in _STOPPING}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _stop(number: int, _frame: FrameType | None) -> None:
    for each in _STOPPING:
        signal.signal(each, signal.SIG_IGN)
    raise Stopped(signal.Signals(number).name)


@contextmanager
def running(programs: Iterable[Program], grace: float) -> Iterator[list[OwnedProcess]]:
    """Start the programs; at the end all are asked to stop, then each has `grace` seconds."""
    processes: list[OwnedProcess] = []
    try:
        for program in programs:
            processes.append(OwnedProcess(program))
        yield processes
    finally:
        for process in processes:
            process.ask_to_stop()
        for process in processes:
            process.stop(grace)


def wait_until(
    ready: Callable[[], bool], processes: Sequence[OwnedProcess], seconds: float
) -> bool:
    """Wait for `ready`, at most so long; whether it came.

    Raises:
        click.ClickException: a program died meanwhile.
    """
    pause = threading.Event()
    for _ in range(int(seconds / _LOOK_EVERY)):
        if ready():
            return True
        check_alive(processes)
        pause.wait(_LOOK_EVERY)
    return ready()


def wait_for_ever(processes: Sequence[OwnedProcess]) -> None:
    """Come back only by `Stopped`, or because a program died.

    Raises:
        click.ClickException: which one, and the end of its log.
    """
    pause = threading.Event()
    while True:
        check_alive(processes)
        pause.wait(_LOOK_EVERY)


def check_alive(processes: Sequence[OwnedProcess]) -> None:
    """Nothing, as long as all programs run.

    Raises:
        click.ClickException: one does not; the text ends with the end of its log.
    """
    for process in processes:
        if process.exit_code is not None:
            program = process.program
            raise click.ClickException(
                f"{program.name} ended with exit code {process.exit_code}, so everything was "
                f"stopped. The end of {program.log}:\n\n{process.last_words()}"
            )
