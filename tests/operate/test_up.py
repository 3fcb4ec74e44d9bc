from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli.configuration import parse
from cli.http import Api, Problem
from tests.conftest import Cluster
from tests.operate.processes import CODE, is_gone, wait_for

ENVIRONMENT = dict(os.environ)  # noqa: TID251 (handed on to what is started here)

pytestmark = pytest.mark.processes


@dataclass
class Up:
    """A `hango up` that has said that it runs."""

    process: subprocess.Popen[str]
    folder: Path
    said: str

    @property
    def connection(self) -> dict[str, str]:
        return json.loads((self.folder / ".hango" / "connection.json").read_text())

    @property
    def api(self) -> Api:
        return Api(parse(self.connection["url"], "test", self.connection["key"]), 30)

    @property
    def children(self) -> dict[str, int]:
        """What it started, by the word that tells them apart."""
        found: dict[str, int] = {}
        for pid in children_of(self.process.pid):
            words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
            names = [Path(words[0].split()[0]).name, *words]
            known = ("gunicorn", "worker", "beat", "valkey-server", "postgres")
            found[next(each for each in known if each in names)] = pid
        return found

    def end(self, number: signal.Signals = signal.SIGTERM) -> str:
        self.process.send_signal(number)
        return self.process.communicate(timeout=60)[1]


def descendants(pid: int) -> list[int]:
    return [each for child in children_of(pid) for each in (child, *descendants(child))]


def children_of(pid: int) -> list[int]:
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def begin_up(folder: Path, settings: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    folder.mkdir(exist_ok=True)
    inherited = {name: value for name, value in ENVIRONMENT.items() if name[:6] != "HANGO_"}
    return subprocess.Popen(
        [sys.executable, "-m", "cli", "up"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=inherited | {"PYTHONPATH": str(CODE), "PYTHONUNBUFFERED": "1"} | (settings or {}),
        # As a background job of a shell would start it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )


def when_up(process: subprocess.Popen[str], folder: Path) -> Up:
    said = []
    assert process.stdout
    for line in process.stdout:
        said.append(line)
        if "Ctrl-C" in line:
            return Up(process, folder, "".join(said))
    raise AssertionError(process.communicate()[1])


@pytest.fixture
def start(open_folder: Path) -> Iterator[Callable[..., Up]]:
    """Run `hango up` in a folder of this name, below an open one."""
    with starting(open_folder) as begin:
        yield begin


@pytest.fixture(scope="module")
def shared() -> Iterator[Up]:
    """One that runs, for tests that leave it as it is."""
    with tempfile.TemporaryDirectory(prefix="hango-test-") as name:
        Path(name).chmod(0o755)
        with starting(Path(name)) as begin:
            yield begin("the first")


@contextmanager
def starting(parent: Path) -> Iterator[Callable[..., Up]]:
    processes: list[subprocess.Popen[str]] = []

    def begin(name: str = "a project", **settings: str) -> Up:
        process = begin_up(parent / name, settings)
        processes.append(process)
        return when_up(process, parent / name)

    yield begin
    for process in processes:
        process.terminate()
        process.wait(60)
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()


def printed_command(said: str) -> str:
    return next(line for line in said.splitlines() if "context show" in line)


def test_from_nothing_to_the_context_of_a_session(shared: Up) -> None:
    shown = subprocess.run(
        ["/bin/sh", "-c", f"{printed_command(shared.said)} --json"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(CODE), "HOME": str(shared.folder)},
        check=False,
    )

    assert shown.returncode == 0, shown.stderr
    ids = re.findall(r'"id": ?"([^"]+)"', shown.stdout)
    for expected in ("system:agent", "system:memory:/memories/AGENTS.md", "tool:terminal"):
        assert expected in ids
    assert any(each.startswith("system:skills") for each in ids)
    assert any(each.startswith("message:") for each in ids)


def test_the_key_lies_where_the_client_looks_for_it(shared: Up) -> None:
    file = shared.folder / ".hango" / "connection.json"

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert shared.connection["key"] in shared.said
    assert shared.connection["url"] in shared.said
    assert shared.api.get("v1", "me")["role"] == "admin"


def test_two_run_at_once_and_know_nothing_of_each_other(shared: Up, start) -> None:
    other = start().connection

    assert shared.connection["url"] != other["url"]
    with pytest.raises(Problem) as refused:
        Api(parse(other["url"], "test", shared.connection["key"]), 30).get("v1", "me")
    assert refused.value.status == 401


def test_the_same_folder_twice_names_the_first(shared: Up) -> None:
    second = begin_up(shared.folder)
    _, said = second.communicate(timeout=60)

    assert second.returncode == 1
    assert shared.connection["url"] in said
    assert f"process {shared.process.pid}" in said


def test_a_second_start_finds_everything_as_it_was(start: Callable[..., Up]) -> None:
    first = start()
    connection, command = first.connection, printed_command(first.said)
    tool = {"description": "x", "input_schema": {"type": "object"}, "url": "https://x.example/"}
    first.api.put("v1", "tools", "x", body={**tool, "headers": {"X-Secret": "sealed"}})
    first.end(signal.SIGINT)

    second = start()

    assert first.process.returncode == 0
    assert second.connection == connection
    assert printed_command(second.said) == command
    assert connection["key"] not in second.said
    assert len(list(second.api.items("v1", "sessions", query={}))) == 1
    kept = second.api.put("v1", "tools", "x", body={**tool, "headers": {"X-Secret": None}})
    assert kept.document["headers_set"] == ["X-Secret"]  # opened with the key of the first start
    key = second.folder / ".hango" / "secret.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_killing_it_leaves_nothing_behind(start: Callable[..., Up]) -> None:
    up = start()
    started = descendants(up.process.pid)
    assert up.children.keys() == {"gunicorn", "worker", "beat", "valkey-server", "postgres"}

    up.process.kill()

    assert wait_for(lambda: all(is_gone(pid) for pid in started), seconds=30)


def test_a_program_that_dies_ends_the_run_with_its_last_words(start: Callable[..., Up]) -> None:
    up = start()
    started = descendants(up.process.pid)

    os.kill(up.children["worker"], signal.SIGTERM)
    _, said = up.process.communicate(timeout=60)

    assert up.process.returncode == 1
    assert "worker ended with exit code" in said
    assert "Warm shutdown" in said
    assert all(is_gone(pid) for pid in started)


def test_a_taken_port_is_named(open_folder: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = str(taken.getsockname()[1])

        process = begin_up(open_folder / "project", {"HANGO_PORT": port})
        _, said = process.communicate(timeout=60)

    assert process.returncode == 1
    assert f"Port {port} is taken. Choose another with HANGO_PORT." in said


def test_bad_settings_are_one_line(open_folder: Path) -> None:
    process = begin_up(open_folder / "project", {"HANGO_PORT": "soon"})
    _, said = process.communicate(timeout=60)

    assert process.returncode == 1
    assert said.strip().splitlines() == [
        "hango: Bad configuration: HANGO_PORT: Not a valid integer."
    ]


def test_servers_of_ones_own_are_used(
    start: Callable[..., Up], cluster: Cluster, redis_url: str
) -> None:
    urls = cluster.create(migrated=False)

    up = start(
        HANGO_DATABASE_URL=urls.app_url,
        HANGO_ADMIN_DATABASE_URL=urls.admin_url,
        HANGO_REDIS_URL=redis_url,
    )

    assert up.children.keys() == {"gunicorn", "worker", "beat"}
    assert up.api.get("v1", "me")["role"] == "admin"
    assert not (up.folder / ".hango" / "postgres").exists()
