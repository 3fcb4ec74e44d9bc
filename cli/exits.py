"""What the process exits with, and the exception that ends a command with one line for people."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes; they are part of the contract of the CLI."""

    DONE = 0
    FAILED = 1  # the try or the server failed
    USAGE = 2  # what was typed or sent cannot be taken
    NOT_FOUND = 3  # absent, or not allowed: nobody can tell which
    LIMITED = 4  # quota used up, or too many requests
    TIMED_OUT = 5


BY_STATUS = {
    400: Exit.USAGE,
    401: Exit.NOT_FOUND,
    402: Exit.LIMITED,
    403: Exit.NOT_FOUND,
    404: Exit.NOT_FOUND,
    405: Exit.USAGE,
    408: Exit.TIMED_OUT,
    410: Exit.NOT_FOUND,
    413: Exit.USAGE,
    415: Exit.USAGE,
    422: Exit.USAGE,
    428: Exit.USAGE,
    429: Exit.LIMITED,
    504: Exit.TIMED_OUT,
}


def exit_for(status: int) -> Exit:
    """The exit code for the HTTP status of a refusal; what is not in the table is a failure."""
    return BY_STATUS.get(status, Exit.FAILED)


class Stop(Exception):
    """The command cannot go on. `what` happened and `hint`, what to do next, make one line."""

    def __init__(self, what: str, hint: str = "", exit_code: Exit = Exit.FAILED) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
        self.exit_code = exit_code

    @property
    def line(self) -> str:
        """The whole message; it may hold text of the server that is not yet safe to show."""
        return f"{self.what} {self.hint}".strip()
