"""Web sessions: somebody signed in on the admin page, known by a cookie until it ends.

The cookie holds 256 random bits, and only their hash is stored. The token against cross-site
requests is derived from the same bits, so that it is bound to the web session and kept nowhere.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from uuid import UUID

from app.domain.principals import Principal

_TOKEN_BYTES = 32
_TOKEN = re.compile(r"[0-9A-Za-z_-]{43}", re.ASCII)
_CSRF_PURPOSE = b"hango csrf"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSession:
    """What is kept of a web session: neither its token nor the token's hash."""

    id: UUID
    key_id: UUID  # it ends with this key
    created_at: str
    last_used_at: str  # within a minute
    expires_at: str  # however much it is used


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A good web session, and whom it makes the sender of its cookie."""

    principal: Principal
    web_session: WebSession


def mint() -> str:
    """A new token: the value of the cookie."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def is_token(text: str) -> bool:
    """Whether this can be a token at all."""
    return _TOKEN.fullmatch(text) is not None


def token_hash(token: str) -> bytes:
    """What is stored of a token. Nobody can guess 256 bits, so no slow hash is needed."""
    return hashlib.sha256(token.encode("ascii")).digest()


def csrf_token(token: str) -> str:
    """What the page has to send along with everything that changes something."""
    mark = hmac.digest(token.encode("ascii"), _CSRF_PURPOSE, "sha256")
    return base64.urlsafe_b64encode(mark).decode().rstrip("=")


def is_csrf_token(presented: str, token: str) -> bool:
    """Whether `presented` is the token of this web session, in constant time."""
    return hmac.compare_digest(presented.encode(), csrf_token(token).encode())
