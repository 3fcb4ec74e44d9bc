"""The files that start hango agree with each other, and with the code."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator

import pytest
import yaml

from app.domain.jobs import QueueName
from docs.writers import configuration
from tests.rules.documents import ROOT

PROCFILE = dict(
    line.split(": ", 1)
    for line in (ROOT / "Procfile").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
)
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def compose_commands() -> dict[str, str]:
    return {name: shlex.join(each.get("command", [])) for name, each in COMPOSE.items()}


def test_docker_compose_yml_is_what_compose_takes() -> None:
    """By the schema of the Compose specification, which comes with the checker."""
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]

    done = subprocess.run([*check, "docker-compose.yml"], cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("commands", [PROCFILE, compose_commands()], ids=["Procfile", "compose"])
def test_every_program_is_started(commands: dict[str, str]) -> None:
    assert {"web", "worker", "beat"} <= commands.keys()


@pytest.mark.parametrize("commands", [PROCFILE, compose_commands()], ids=["Procfile", "compose"])
def test_every_queue_is_consumed(commands: dict[str, str]) -> None:
    """A worker that names no queues consumes all."""
    workers = [each for each in commands.values() if " worker" in each]
    consumed = {name for each in workers for name in queues_of(each)}

    assert consumed == {each.value for each in QueueName}


def test_every_variable_of_these_files_is_documented() -> None:
    texts = [*PROCFILE.values(), DOCKERFILE, (ROOT / "docker-compose.yml").read_text("utf-8")]
    named = set(re.findall(r"\bHANGO_[A-Z_]+\b", " ".join(texts)))

    assert named
    assert named - configuration.variables() == set()


def test_the_image_serves_as_the_procfile_does() -> None:
    web = shlex.split(PROCFILE["web"])
    told = re.search(r"^CMD (\[.*\])$", DOCKERFILE, flags=re.MULTILINE)
    assert told
    image = yaml.safe_load(told[1])

    assert without_bind(image) == without_bind(web)


def test_one_oldest_python_is_named_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    oldest = project["project"]["requires-python"].removeprefix(">=")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert f"Python {oldest} or newer" in readme
    assert project["tool"]["mypy"]["python_version"] == oldest
    assert project["tool"]["ruff"]["target-version"] == f"py{oldest.replace('.', '')}"
    assert f"OLDEST = ({oldest.replace('.', ', ')})" in (ROOT / "dev").read_text(encoding="utf-8")


def queues_of(command: str) -> Iterator[str]:
    words = shlex.split(command)
    named = [words[i + 1] for i, word in enumerate(words) if word in ("-Q", "--queues")]
    yield from named[0].split(",") if named else (each.value for each in QueueName)


def without_bind(words: list[str]) -> list[str]:
    at = words.index("--bind")
    return words[:at] + words[at + 2 :]
