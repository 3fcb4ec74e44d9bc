"""Attachments: files that people add to a session."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """What is known of an attachment; its bytes are loaded apart."""

    id: UUID
    tenant_id: UUID
    session_id: UUID
    name: str
    media_type: str
    size_bytes: int
    sha256: str  # hex, of the bytes
    created_at: str
