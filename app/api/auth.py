"""Who asks: an API key in `Authorization: Bearer` or `x-api-key` → Principal."""

from __future__ import annotations

import re
import secrets

import structlog
from flask import g, request

from app.api import access
from app.api.current import runtime
from app.api.ratelimit import RateLimiter
from app.domain import keys
from app.domain.keys import PresentedKey
from app.domain.principals import Principal
from app.errors import Unauthorized

log = structlog.get_logger(__name__)

_BEARER = re.compile(r"bearer +(\S+)", re.IGNORECASE | re.ASCII)

# What is looked up for those who show no key, or nonsense: so that the way through the code and
# the database, and with it the time, is the same for every cause of a 401.
_NOBODY = PresentedKey(public_id="0" * 12, hash=secrets.token_bytes(32))


class Gate:
    """Stands before every view: knows who asks, whether they may, and how often."""

    def __init__(self, limiter: RateLimiter) -> None:
        self._limiter = limiter

    def __call__(self) -> None:
        """Let the request pass, with its principal on `g`.

        Raises:
            Unauthorized, RateLimited, NotFound
        """
        endpoint = request.endpoint
        if endpoint is None or not access.needs_key(endpoint):
            return
        principal = self._authenticated()
        structlog.contextvars.bind_contextvars(
            user_id=str(principal.user_id), key_id=str(principal.key_id)
        )
        costs = endpoint in access.COSTS_MONEY
        allowance = self._limiter.take(f"key:{principal.key_id}", costs_money=costs)
        if allowance:
            g.rate_headers = self._limiter.headers(allowance)
        access.check(endpoint, principal)
        g.principal = principal

    def _authenticated(self) -> Principal:
        presented = presented_key()
        principal = runtime().database.authenticate(presented or _NOBODY)
        if principal is None:
            # Only those who fail share the bucket of their address: nobody can lock out the
            # holders of good keys behind the same proxy.
            self._limiter.take(f"address:{request.remote_addr}")
            raise Unauthorized(headers={"WWW-Authenticate": "Bearer"})
        return principal


def presented_key() -> PresentedKey | None:
    """The key in the headers; None where there is none, a malformed one, or two that differ."""
    found = {
        *_bearers(request.headers.getlist("Authorization")),
        *request.headers.getlist("X-Api-Key"),
    }
    return keys.parse(found.pop()) if len(found) == 1 else None


def _bearers(headers: list[str]) -> list[str]:
    """The credentials of the headers; what is no bearer's stays as it is, and is no key."""
    matches = [(_BEARER.fullmatch(header), header) for header in headers]
    return [match[1] if match else header for match, header in matches]
