"""What a checkout starts with: ./dev, the lock files, and the files that run hango elsewhere."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import tomllib
from typing import Any

import pytest
import yaml

from app.domain.jobs import QueueName
from tests.operate.processes import CODE

LOCKS = ["requirements.lock", "requirements-dev.lock"]


@pytest.fixture(scope="module")
def dev() -> dict[str, Any]:
    return runpy.run_path(str(CODE / "dev"))


@pytest.mark.parametrize("name", LOCKS)
def test_locks_name_no_host_and_have_a_hash_for_each_package(name: str, dev) -> None:
    text = (CODE / name).read_text()

    assert "://" not in text
    for package, block in dev["blocks"](text).items():
        assert re.match(rf"{re.escape(package)}(\[[a-z,]+\])?==\S+ ", block), package
        assert "--hash=sha256:" in block, package


@pytest.mark.parametrize("name", LOCKS)
def test_locks_hold_every_dependency(name: str, dev) -> None:
    project = tomllib.loads((CODE / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["embedded"], *extras["checkout"]]
    if name == "requirements-dev.lock":
        wanted += extras["dev"]

    locked = dev["blocks"]((CODE / name).read_text())

    missing = {re.split(r"[\[<>=~;]", each)[0].lower() for each in wanted} - locked.keys()
    assert not missing, "run: make lock"


def test_where_no_wheel_fits_the_embedded_servers_are_left_out(dev) -> None:
    text = "alembic==1 \\\n    --hash=x\nvalkeylite==9 \\\n    --hash=y\n    # via hango\nzzz==1\n"

    dev["blocks"].__globals__["embedded_fits"] = lambda: False

    assert dev["blocks"](text) == {"alembic": "alembic==1 \\\n    --hash=x\n", "zzz": "zzz==1\n"}


def test_without_a_command_dev_says_what_there_is() -> None:
    done = subprocess.run(
        [sys.executable, CODE / "dev"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 2
    assert "./dev test" in done.stderr or "test " in done.stderr


def test_make_lists_its_targets() -> None:
    done = subprocess.run(["make", "-C", CODE], capture_output=True, text=True, check=True)

    for target in ("run", "test", "check", "docs", "bench"):
        assert f"make {target} " in done.stdout


def test_shell_scripts_parse() -> None:
    subprocess.run(["bash", "-n", CODE / ".ci" / "run"], check=True)


def test_procfile_and_compose_run_the_same_programs() -> None:
    lines = (CODE / "Procfile").read_text().splitlines()
    processes = dict(line.split(": ", 1) for line in lines if not line.startswith("#"))
    services = yaml.safe_load((CODE / "docker-compose.yml").read_text())["services"]
    image = (CODE / "Dockerfile").read_text()

    for name in ("worker", "upkeep", "beat"):
        command = services[name]["command"]
        assert command[:6] == processes[name].split()[:6]
    consumed = [
        queue
        for line in processes.values()
        if "--queues" in line
        for queue in line.split("--queues ")[1].split()[0].split(",")
    ]
    assert sorted(consumed) == sorted(QueueName)
    assert "app.web:from_environment()" in processes["web"]
    assert "app.web:from_environment()" in image
    assert processes["release"].split() == services["migrate"]["command"]
