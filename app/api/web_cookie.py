"""The cookie of the admin page: its name, its flags, and the walls against other sites.

A browser sends a cookie along with whatever makes it send a request, so a request that rests on one
has to show that it came from hango's own page. One that shows a key rests on no cookie.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import request
from werkzeug.wrappers import Response

from app.api.current import runtime
from app.domain import web_sessions
from app.errors import CrossSite

CSRF_HEADER = "X-CSRF-Token"
PLAIN_NAME = "hango"
TLS_NAME = "__Host-hango"  # a browser takes it over TLS alone, and from no other host

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def name() -> str:
    """By configuration, and not by what a request claims to have come over."""
    return TLS_NAME if runtime().settings.public_url.startswith("https:") else PLAIN_NAME


def token() -> str | None:
    """The token in the request's cookie; None where there is none, nonsense, or two that differ."""
    found = set(request.cookies.getlist(name()))
    if len(found) != 1:
        return None
    given = found.pop()
    return given if web_sessions.is_token(given) else None


def give(response: Response, value: str) -> None:
    """Have the browser keep the token, out of reach of any script and of any other site.

    Strict breaks no link to the page: the page itself needs no cookie, and what it then asks for is
    asked by hango's own site.
    """
    lifetime = runtime().settings.web_session_lifetime
    response.set_cookie(
        name(), value, max_age=lifetime, secure=_secure(), httponly=True, samesite="Strict"
    )


def take_back(response: Response) -> None:
    """Have the browser forget it."""
    response.delete_cookie(name(), secure=_secure(), httponly=True, samesite="Strict")


def check_origin() -> None:
    """Go on only when no other site can have made the browser send this.

    Raises:
        CrossSite
    """
    site = request.headers.get("Sec-Fetch-Site", "same-origin")
    origin = request.headers.get("Origin")
    if site != "same-origin" or not (origin is None or _is_own(origin)):
        raise CrossSite(
            "Open the page at hango's own address. Behind a proxy, HANGO_PUBLIC_URL names it."
        )


def check_change(value: str) -> None:
    """Go on only when the request changes nothing, or came from the page that has this token.

    Raises:
        CrossSite
    """
    if request.method in _SAFE_METHODS:
        return
    check_origin()
    if not web_sessions.is_csrf_token(request.headers.get(CSRF_HEADER, ""), value):
        raise CrossSite(f"Send {CSRF_HEADER}, as GET /v1/web-session tells it.")


def _is_own(origin: str) -> bool:
    public = runtime().settings.public_url.rstrip("/")
    if public:
        return origin.lower() == public.lower()
    return urlsplit(origin).netloc.lower() == request.host.lower()


def _secure() -> bool:
    return name() == TLS_NAME or request.is_secure
