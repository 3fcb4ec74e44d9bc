"""Who asks: an API key in `Authorization: Bearer` or `x-api-key`, or a cookie → Principal."""

from __future__ import annotations

import re
import secrets
from functools import partial
from typing import TYPE_CHECKING, cast

import structlog
from flask import current_app, g, request

from app.api import access, web_cookie
from app.api.current import runtime
from app.api.ratelimit import RateLimiter
from app.domain import keys, web_sessions
from app.domain.keys import PresentedKey
from app.domain.principals import Principal
from app.domain.web_sessions import SignedIn
from app.errors import TooManyTries, Unauthorized

if TYPE_CHECKING:
    from redis import Redis

log = structlog.get_logger(__name__)

EXTENSION = "hango-gate"

# A person who signs in mistypes a few times; more are guesses.
_GUESSES_PER_MINUTE = 20

_BEARER = re.compile(r"bearer +(\S+)", re.IGNORECASE | re.ASCII)

# What is looked up for those who show no key, or nonsense: so that the way through the code and
# the database, and with it the time, is the same for every cause of a 401.
_NOBODY = PresentedKey(public_id="0" * 12, hash=secrets.token_bytes(32))


class Gate:
    """Stands before every view: knows who asks, whether they may, and how often."""

    def __init__(self, redis: Redis, per_minute: int) -> None:
        self._limiter = RateLimiter(redis, per_minute)
        self._guesses = RateLimiter(redis, min(per_minute, _GUESSES_PER_MINUTE))

    def __call__(self) -> None:
        """Let the request pass, with its principal on `g`.

        Raises:
            Unauthorized, CrossSite, RateLimited, NotFound
        """
        endpoint = request.endpoint
        if endpoint is None or not access.needs_key(endpoint):
            return
        principal = self._authenticated(endpoint)
        structlog.contextvars.bind_contextvars(
            user_id=str(principal.user_id), key_id=str(principal.key_id)
        )
        self._count(principal, costs_money=endpoint in access.COSTS_MONEY)
        access.check(endpoint, principal)
        g.principal = principal

    def sign_in(self, text: str) -> Principal:
        """Whom a key that was typed into the page makes its sender.

        Raises:
            Unauthorized: as for any other bad key.
            RateLimited: this address guessed too often, or the key was used too often.
        """
        principal = runtime().database.authenticate(keys.parse(text.strip()) or _NOBODY)
        if principal is None:
            raise self._refusal(self._guesses, "sign-in")
        self._count(principal)
        return principal

    def _authenticated(self, endpoint: str) -> Principal:
        principal = _by_key() if _shows_key() else _by_cookie()
        if principal is None or (access.needs_cookie(endpoint) and "web_session" not in g):
            raise self._refusal(self._limiter, "address")
        return principal

    def _count(self, principal: Principal, *, costs_money: bool = False) -> None:
        bucket = f"key:{principal.key_id}"
        allowance = self._limiter.take(bucket, costs_money=costs_money)
        g.take_more = partial(self._limiter.take, bucket, costs_money=costs_money)
        if allowance:
            g.rate_headers = self._limiter.headers(allowance)

    def _refusal(self, limiter: RateLimiter, bucket: str) -> Unauthorized:
        """The 401. Raises RateLimited where there were too many of them.

        Only those who fail share the bucket of their address: nobody can lock out the holders of
        good keys behind the same proxy.
        """
        limiter.take(f"{bucket}:{request.remote_addr}")
        return Unauthorized(headers={"WWW-Authenticate": "Bearer"})


def gate() -> Gate:
    """The one that this application has."""
    return cast(Gate, current_app.extensions[EXTENSION])


def signed_in() -> SignedIn | None:
    """Whom the request's cookie names, if its web session is good now."""
    token = web_cookie.token()
    if token is None:
        return None
    idle = runtime().settings.web_session_idle
    return runtime().database.signed_in(web_sessions.token_hash(token), idle)


def _shows_key() -> bool:
    """Whether a key, good or not, is what has to let the request in: a cookie is then ignored."""
    shown = "Authorization" in request.headers or "X-Api-Key" in request.headers
    return shown or web_cookie.token() is None


def _by_key() -> Principal | None:
    return runtime().database.authenticate(presented_key() or _NOBODY)


def _by_cookie() -> Principal | None:
    """Raises CrossSite for a change that another site may have made the browser send."""
    found = signed_in()
    if found is None:
        return None
    web_cookie.check_change(web_cookie.token() or "")
    g.web_session = found.web_session
    return found.principal


def charge(tries: int) -> None:
    """Count the request at hand as one for each of its tries; it was counted once before.

    Raises:
        TooManyTries: so many are never allowed at once.
        RateLimited: they are not allowed now.
    """
    per_minute = runtime().settings.rate_limit_per_minute
    if per_minute and tries > per_minute:
        raise TooManyTries(f"{per_minute} requests a minute are allowed; these are {tries} tries.")
    if tries > 1:
        g.take_more(count=tries - 1)


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
