from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.operate.processes import Owner, begin, copy_wheels


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every account of the machine may enter; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory(prefix="hango-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture
def state(open_folder: Path) -> Path:
    return open_folder / "a state folder"


@pytest.fixture
def wheels(open_folder: Path) -> Path:
    """The installed wheels of both servers, once more in a folder that everybody may enter."""
    return copy_wheels(open_folder / "wheels")


@pytest.fixture(scope="module")
def running() -> Iterator[Owner]:
    """One process with servers, for tests that only look; `.state` is its folder."""
    with tempfile.TemporaryDirectory(prefix="hango-test-") as name:
        Path(name).chmod(0o755)
        with owners(Path(name) / "root") as own:
            yield own(Path(name) / "a state folder")


@pytest.fixture
def own(open_folder: Path) -> Iterator[Callable[..., Owner]]:
    """Start a process that owns servers: `own(state, uid=…, wheels=…)`."""
    with owners(open_folder / "root") as start:
        yield start


@contextmanager
def owners(root_folder: Path) -> Iterator[Callable[..., Owner]]:
    started: list[subprocess.Popen[str]] = []

    def start(state: Path, uid: int | None = None, wheels: Path | None = None) -> Owner:
        process = begin(state, root_folder, uid, wheels)
        started.append(process)
        assert process.stdout
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        return Owner(process, state, json.loads(line))

    yield start
    for process in started:
        with suppress(ValueError):  # its pipes may be closed already
            process.communicate(timeout=30)
