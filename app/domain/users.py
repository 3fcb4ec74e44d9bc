"""Users: people in a tenant."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from app.domain.principals import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A person in a tenant. Never deleted, since what it made names it; disabled instead."""

    id: UUID
    tenant_id: UUID
    name: str
    role: Role
    created_at: str
    disabled_at: str | None  # from then on its keys are refused
