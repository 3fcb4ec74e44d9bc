"""Who asks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID


class Role(StrEnum):
    """What a user may do in its tenant."""

    ADMIN = "admin"
    MEMBER = "member"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A user, acting through an API key. Everything a request may see follows from it."""

    tenant_id: UUID
    user_id: UUID
    role: Role
    key_id: UUID | None = None

    @property
    def is_admin(self) -> bool:
        """Whether it sees and changes everything of its tenant."""
        return self.role is Role.ADMIN
