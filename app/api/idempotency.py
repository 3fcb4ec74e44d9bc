"""Idempotency-Key: a POST that is sent again gets the first answer and does nothing.

Scope: tenant, user, method and path. A request that fails leaves no row, since the row lives and
dies with the transaction that does the work; so only answers of success are repeated.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar
from uuid import UUID

from flask import after_this_request, request
from werkzeug.wrappers import Response

from app.domain.idempotency import Attempt, FirstAnswer
from app.errors import BadParameter, Fault
from app.store.transaction import Transaction

_KEY = re.compile(r'"([\x21\x23-\x5b\x5d-\x7e]{1,255})"|([\x21\x23-\x7e]{1,255})', re.ASCII)

HEADER: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "maxLength": 257},
    "description": "1 to 255 visible characters, quoted or not. The same key and body again "
    "repeat the first answer, marked `Idempotent-Replayed: true`; another body is refused.",
}


class HasId(Protocol):
    """Anything stored under an id."""

    @property
    def id(self) -> UUID:
        """Its id."""


T = TypeVar("T")
Made = TypeVar("Made", bound=HasId)


def once(
    tx: Transaction, body: Any, first: Callable[[], Made], again: Callable[[UUID], Made]
) -> Made:
    """Make something with an id, or find what the first request with this key made."""
    return once_named(
        tx,
        body,
        first,
        lambda resource: again(UUID(resource["id"])),
        name=lambda made: {"id": str(made.id)},
    )


def once_named(
    tx: Transaction,
    body: Any,
    first: Callable[[], T],
    again: Callable[[Mapping[str, Any]], T],
    *,
    name: Callable[[T], Mapping[str, Any]],
) -> T:
    """Do the work, or read again what the first request with this key came to.

    `name` tells the ids by which `again` finds it; nothing else is kept.

    Raises:
        BadParameter: the header is not a key.
        IdempotencyMismatch: the first request had another body.
        IdempotencyRunning: the first request has not ended.
        NotFound: what the first request made is gone.
    """
    key = _given_key()
    if key is None:
        return first()
    attempt = Attempt(
        method=request.method, route=request.path, key=key, fingerprint=fingerprint(body)
    )
    answer = tx.idempotency.begin(attempt)
    if answer is not None:
        after_this_request(_replayed)
        return again(answer.resource)
    made = first()
    tx.idempotency.finish(attempt, FirstAnswer(status=201, location=None, resource=name(made)))
    return made


def fingerprint(body: Any) -> str:
    """Hex SHA-256 of the parsed body, the same for every order of its keys."""
    canonical = json.dumps(body, sort_keys=True, default=str, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _given_key() -> str | None:
    header = request.headers.get("Idempotency-Key")
    if header is None:
        return None
    match = _KEY.fullmatch(header)
    if match is None:
        advice = "Give 1 to 255 visible ASCII characters."
        raise BadParameter(faults=[Fault("Idempotency-Key", "invalid", advice)])
    return match[1] or match[2]


def _replayed(response: Response) -> Response:
    response.headers["Idempotent-Replayed"] = "true"
    return response
