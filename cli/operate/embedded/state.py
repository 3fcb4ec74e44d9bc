"""The state folder: one owner at a time, secrets that only the owner reads."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cli.operate.embedded.account import Account, hand_over, make_passable
from cli.operate.embedded.failures import AlreadyRunning, EmbeddedFailure


@contextmanager
def held_state(state: Path) -> Iterator[Callable[[str], None]]:
    """Make the folder if need be, and keep every other owner out of it until the end.

    Gives a function that says what this owner is; whoever comes second is told.

    Raises:
        AlreadyRunning: another process holds it.
    """
    prepare(state)
    lock = os.open(state / "lock", os.O_RDWR | os.O_CREAT, 0o600)

    def describe(owner: str) -> None:
        os.ftruncate(lock, 0)
        os.pwrite(lock, json.dumps({"process": os.getpid(), "owner": owner}).encode(), 0)

    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning(_said_by_the_first(state, lock)) from None
        describe("a hango that is starting")
        yield describe
    finally:
        os.close(lock)


def prepare(state: Path) -> None:
    """Make the state folder.

    Root's is passable, though not readable, for the account that runs PostgreSQL; what lies in
    it has its own modes.
    """
    try:
        state.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise EmbeddedFailure(
            f"The data folder {state} cannot be made ({error.strerror}). Set HANGO_DATA_DIR."
        ) from error


def secret(path: Path, size: int = 24) -> str:
    """The secret that this file keeps, of so many random bytes; made at the first call."""
    if not path.exists():
        partial = path.with_suffix(".partial")
        partial.touch(mode=0o600)
        partial.write_text(secrets.token_urlsafe(size))
        partial.replace(path)
    return path.read_text()


def data_folder(state: Path, name: str, account: Account | None, root_folder: Path) -> Path:
    """`state/name`, or, where `account` cannot reach that, a folder of root's behind a link.

    The link is what counts: a state folder that was moved still finds its data.
    """
    place = state / name
    if place.exists() or account is None or account.may_enter(state):
        return place.resolve()
    digest = hashlib.sha256(os.fsencode(state.resolve())).hexdigest()[:12]
    target = root_folder / f"data-{digest}" / name
    make_passable(root_folder)
    make_passable(target.parent)
    hand_over(target.parent, account)
    if not place.is_symlink():
        place.symlink_to(target)
    return place.readlink()


def _said_by_the_first(state: Path, lock: int) -> str:
    try:
        first = json.loads(os.pread(lock, 4096, 0))
    except ValueError:  # it holds the lock, but has not written yet
        first = {"owner": "a hango that is starting", "process": "?"}
    return (
        f"{state} is in use by {first['owner']} (process {first['process']}). "
        "Stop that one first, or choose another folder with HANGO_DATA_DIR."
    )
