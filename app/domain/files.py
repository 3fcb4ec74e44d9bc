"""The virtual filesystem of a session."""

from __future__ import annotations

from uuid import UUID

import msgspec


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
