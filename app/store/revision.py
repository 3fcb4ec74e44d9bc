"""The schema that this code needs."""

from __future__ import annotations

SCHEMA_REVISION = "0016"
"""The newest migration. Written down here so that a server need not load alembic to know it."""
