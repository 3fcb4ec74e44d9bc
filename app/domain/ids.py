"""Ids and instants: what is made new, and what may pass for an id."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from uuid import UUID

from uuid_utils.compat import uuid7

_IDENTIFIER = re.compile(r"[A-Za-z0-9_.:-]{1,128}")


def new_id() -> UUID:
    """A UUID of version 7: ids that are made later compare greater, so they order by age."""
    return uuid7()


def now() -> datetime:
    """This instant, aware, in UTC."""
    return datetime.now(UTC)


def rfc3339(at: datetime) -> str:
    """An aware instant as RFC 3339 in UTC, with microseconds and `Z`, so that texts compare too."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def identifier(value: object) -> str | None:
    """`value` where it is a short identifier; None for everything that might be content."""
    return value if isinstance(value, str) and _IDENTIFIER.fullmatch(value) else None
