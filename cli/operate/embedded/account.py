"""The unprivileged account that PostgreSQL runs as when root starts it."""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from cli.operate.embedded.failures import EmbeddedFailure

_CANDIDATES = ("postgres", "nobody")


@dataclass(frozen=True, slots=True)
class Account:
    """A user of this machine."""

    name: str
    uid: int
    gid: int

    def may_enter(self, path: Path) -> bool:
        """Whether every folder on the way to `path`, and `path` itself, lets the account in."""
        real = path.resolve()
        return all(self._may_pass(each) for each in (real, *real.parents))

    def _may_pass(self, path: Path) -> bool:
        status = path.stat()
        if status.st_uid == self.uid:
            return bool(status.st_mode & 0o100)
        if status.st_gid == self.gid:
            return bool(status.st_mode & 0o010)
        return bool(status.st_mode & 0o001)


def unprivileged_account() -> Account | None:
    """The account to borrow: None for ordinary users, who run PostgreSQL as themselves.

    Raises:
        EmbeddedFailure: root, on a machine without any candidate.
    """
    if os.geteuid() != 0:
        return None
    for name in _CANDIDATES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name, entry.pw_uid, entry.pw_gid)
    raise EmbeddedFailure(
        "PostgreSQL refuses to run as root, and this machine has none of the accounts "
        f"{' or '.join(_CANDIDATES)}. Start hango as an ordinary user, or set HANGO_DATABASE_URL."
    )


def owner_of(folder: Path) -> Account | None:
    """Who owns the folder; None when nobody does, or when we do."""
    try:
        uid = folder.stat().st_uid
    except FileNotFoundError:
        return None
    if uid == os.geteuid():
        return None
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        return Account(f"number {uid}", uid, uid)
    return Account(entry.pw_name, uid, entry.pw_gid)


def make_passable(folder: Path) -> None:
    """Make a folder that others may pass through but not list, whatever the umask is."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o711)


def hand_over(path: Path, account: Account | None) -> None:
    """Make the account the owner of `path`; nothing to do for an ordinary user."""
    if account:
        os.chown(path, account.uid, account.gid)
