"""Running the command line: what it printed, a server with canned answers, a real terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import MappingProxyType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
KEY = "hk_test_secret"


@dataclass(frozen=True)
class Result:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def parts_of(snapshot: Any) -> dict[str, dict[str, Any]]:
    """Every part that a snapshot lists, by its id."""
    return {part["id"]: part for group in snapshot["groups"].values() for part in group["parts"]}


@dataclass(frozen=True)
class Request:
    """A request as it arrived, nothing decoded."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Canned:
    """A server that answers each request by the next of its answers; the last one stays."""

    url: str = ""
    reads_bodies: bool = True
    requests: list[Request] = field(default_factory=list)
    answers: list[Callable[[BaseHTTPRequestHandler], None]] = field(default_factory=list)

    def answers_json(
        self, *documents: Any, status: int = 200, headers: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        for document in documents:
            self.answers_raw(
                json.dumps(document).encode(), "application/json", status=status, headers=headers
            )

    def answers_raw(
        self,
        body: bytes,
        kind: str,
        *,
        status: int = 200,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            for name, value in {"Content-Type": kind, **headers}.items():
                handler.send_header(name, value)
            if "Content-Length" not in headers:
                handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)

        self.answers.append(answer)

    def does(self, answer: Callable[[BaseHTTPRequestHandler], None]) -> None:
        self.answers.append(answer)


def process(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """`python -m cli` as a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}  # noqa: TID251 (what the fixture set)
    options["env"] = {**environment, **options.pop("environment", {})}
    return subprocess.Popen([sys.executable, "-m", "cli", *arguments], **options)


def on_terminal(
    *arguments: str,
    width: int = 80,
    typed: Sequence[tuple[str, str]] = (),
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Result:
    """Run a command with a terminal of `width` columns as stdin, stdout and stderr.

    `typed` are prompts and what to answer to each, once it is there.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    running = process(
        *arguments,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,  # no other terminal to ask for a password
        environment={"TERM": "xterm-256color", "COLUMNS": "", "LINES": "", **environment},
    )
    os.close(theirs)
    shown = _conversation(ours, list(typed))
    os.close(ours)
    return Result(running.wait(), shown.replace("\r\n", "\n"), "")


def _conversation(terminal: int, typed: list[tuple[str, str]]) -> str:
    shown, seen = b"", 0
    while piece := _read(terminal):
        shown += piece
        if typed and (at := shown.find(typed[0][0].encode(), seen)) >= 0:
            seen = at + 1
            os.write(terminal, f"{typed.pop(0)[1]}\n".encode())
    return shown.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux: the other end of the terminal was closed
        return b""
