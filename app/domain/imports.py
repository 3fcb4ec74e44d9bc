"""Imports that were made, so that the same file is recognised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRecord:
    """One imported conversation and the session that it became.

    A record goes with its session: once the session is deleted the file can be imported anew.
    """

    id: UUID
    tenant_id: UUID
    owner_id: UUID
    agent_id: UUID
    session_id: UUID
    format: str
    fingerprint: str  # hex sha256; one owner imports it once
    content_hash: str  # hex sha256 of what would be sent
    source_session_id: str | None
    last_record_id: str | None
    report: Mapping[str, Any]
    created_at: str = ""
