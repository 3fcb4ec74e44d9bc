"""Idempotency keys: a request that is sent again gets the first answer, and does nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A request that carries an Idempotency-Key. Keys of different users and routes are apart."""

    method: str
    route: str  # the path as called, ids included
    key: str
    fingerprint: str  # hex sha256 of the parsed, canonical body


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstAnswer:
    """What the first request with the key was answered.

    `resource` holds ids and numbers only: the body is rendered anew from what they name, so that
    no content lives longer here than where it belongs.
    """

    status: int
    location: str | None
    resource: Mapping[str, Any]
