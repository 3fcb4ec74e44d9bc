"""Messages whose stored count is another estimator's, to be counted again."""

from __future__ import annotations

from uuid import UUID

import msgspec


class StaleCount(msgspec.Struct, frozen=True):
    """A message to count again. Its content is compact JSON of its blocks."""

    tenant_id: UUID
    session_id: UUID
    seq: int
    role: str
    content: str


class NewCount(msgspec.Struct, frozen=True):
    """What a message costs by the present estimator."""

    tenant_id: UUID
    session_id: UUID
    seq: int
    tokens: int
