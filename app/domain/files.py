"""The virtual filesystem of a session: its files, what they may hold, what keeps one away."""

from __future__ import annotations

from uuid import UUID

import msgspec

from app.domain.tools import ToolError

MAX_FILE_CHARACTERS = 2_000_000


class SessionFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a session's virtual filesystem. No host file is ever behind it."""

    session_id: UUID
    path: str  # absolute: "/notes/plan.md"
    content: str
    version: int  # grows with each change
    sha256: str  # hex, of the content as UTF-8
    size_bytes: int
    updated_at: str


class FileEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A file as a listing shows it, without its content."""

    path: str
    version: int
    sha256: str
    size_bytes: int
    updated_at: str


class Room(msgspec.Struct, frozen=True):
    """How much the files of one place may hold, or do hold, together."""

    files: int
    size_bytes: int


SESSION_ROOM = Room(2_000, 64 * 2**20)
MEMORY_ROOM = Room(200, 2**20)  # every byte of it is part of every request of the agent


class NoSuchFile(ToolError):
    """There is no file with this path."""

    def __init__(self, path: str) -> None:
        super().__init__(f"There is no file {path}. Look for it with ls or glob.")


class MemoryReadOnly(ToolError):
    """The agent belongs to somebody else, and its memory with it."""

    def __init__(self) -> None:
        super().__init__(
            "You can read the memory of this agent, but not change it: the agent belongs to"
            " somebody else. Write to a file outside /memories/, or tell the user what should be"
            " remembered."
        )


class NoRoom(ToolError):
    """A limit is met; nothing was written."""


def check_room(used: Room, room: Room, size_bytes: int, before: int | None) -> None:
    """Check that a file may grow from `before` bytes (None: it is new) to `size_bytes`.

    `used` counts the other files. What does not grow is never refused, so that files that came
    another way can still be made smaller.

    Raises:
        NoRoom
    """
    if before is None and used.files >= room.files:
        raise NoRoom(f"There are already {used.files:,} files here: use one of those.")
    left = room.size_bytes - used.size_bytes
    if size_bytes > max(left, before or 0):
        raise NoRoom(
            f"All files here may hold {room.size_bytes:,} bytes together, which leaves"
            f" {max(left, 0):,} for this one. Write less, or make other files smaller."
        )


def check_length(characters: int) -> None:
    """Check that a file may be this long. Raises NoRoom."""
    if characters > MAX_FILE_CHARACTERS:
        raise NoRoom(
            f"A file holds at most {MAX_FILE_CHARACTERS:,} characters; this would have"
            f" {characters:,}. Spread it over several files."
        )
