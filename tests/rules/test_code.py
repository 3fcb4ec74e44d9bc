"""What holds of the whole code base."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

from tests.rules.documents import ROOT

FOLDERS = ("app", "bench", "cli", "docs", "migrations", "tests", "workers", ".ci")
CODE = ("app", "cli", "workers")

# Recorded sessions show the machines of those who recorded them, with their licences beside them.
RECORDED = ("tests/data", "cli/operate/sample/session.json", "bench/data")

PERSONAL = re.compile(r"(?<![\w./-])/(?:home|Users|root|work)/\w[\w.-]*/")
INDEX = re.compile(r"--(?:extra-)?index-url|find-links|trusted-host")


def test_imports_point_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)

    assert lint_imports(config_filename="pyproject.toml", no_cache=True) == 0


def test_nothing_is_async() -> None:
    """docs/decisions/0007-no-async.md, and the one exception of 0013-async-in-tools-alone.md"""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, tree in _trees()
        if path.parent != ROOT / "app" / "tools"
        for node in ast.walk(tree)
        if isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith)
    ]

    assert found == []


def test_no_module_is_named_after_nothing() -> None:
    vague = {"utils", "util", "helpers", "helper", "common", "constants", "misc", "base_service"}

    assert [path for path in _files() if path.stem in vague] == []


def test_every_module_says_what_lives_in_it() -> None:
    silent = [str(path.relative_to(ROOT)) for path, tree in _trees() if not ast.get_docstring(tree)]

    assert silent == []


def test_nothing_is_left_to_do() -> None:
    """Work that waits is written down where it is planned, not in the code."""
    marker = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path, text in _texts(*CODE, "migrations")
        for match in marker.finditer(text)
        if path.suffix == ".py"
    ]

    assert found == []


def test_no_file_knows_the_machine_that_it_was_written_on() -> None:
    here = {str(ROOT), sys.prefix, sys.base_prefix, str(Path.home())}
    # A short path, and the system's own, may stand in a file for good reasons.
    telling = [
        re.escape(each) for each in here if len(Path(each).parts) > 2 and each[:5] != "/usr/"
    ]
    known = re.compile(rf"(?<![\w.-])(?:{'|'.join(telling) or '(?!)'})(?=[/\"'\s]|$)")
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path, text in _texts(*FOLDERS)
        for pattern in (PERSONAL, known)
        if (match := pattern.search(text))
    ]

    assert found == []


def test_no_file_names_a_package_index() -> None:
    """Whoever installs has an index of their own; hashes say that it gave the right files."""
    named = {
        path.name
        for path in ROOT.iterdir()
        if path.is_file() and path.name != "dev" and INDEX.search(_text(path))
    }

    assert named == set()
    assert "://" not in _text(ROOT / "requirements.lock") + _text(ROOT / "requirements-dev.lock")


def _files() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


def _texts(*folders: str) -> Iterator[tuple[Path, str]]:
    """Every text file in these folders and at the root, recordings left out."""
    at_root = [path for path in ROOT.iterdir() if path.is_file() and not path.name.startswith(".")]
    inside = [path for path in _files() if path.relative_to(ROOT).parts[0] in folders]
    for path in (*at_root, *inside):
        if not str(path.relative_to(ROOT)).startswith(RECORDED):
            yield path, _text(path)


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def _trees() -> Iterator[tuple[Path, ast.Module]]:
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path, ast.parse(path.read_text(encoding="utf-8"))
