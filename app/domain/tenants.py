"""Tenants: isolated accounts."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """An isolated account."""

    id: UUID
    name: str
    trace_llm_content: bool  # whether content may stand on spans
    created_at: str
