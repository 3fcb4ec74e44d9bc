"""What is sent to a server outside, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

USER_AGENT = "hango"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """What is sent. `repr` leaves out what may be secret."""

    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    content: bytes | None = field(default=None, repr=False)
    seconds: float  # for all of it
    max_bytes: int  # of the answer: what goes beyond is not read


@dataclass(frozen=True, slots=True)
class Incoming:
    """What came back, whatever its status: a redirect is an answer like every other."""

    status: int
    content_type: str  # in lower case, with its parameters; empty where none was told
    body: bytes = field(repr=False)
    is_cut: bool  # there was more than `max_bytes`
