"""API keys: their format, and what is kept of one.

    hk_<public id>_<secret>      hk_4mVb0Qx7PzLc_<43 characters of secret><6 of checksum>

The public id is looked up, the secret is compared. The checksum refuses typing errors without a
look at the database, and gives scanners for leaked secrets a pattern that hardly errs.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import zlib
from dataclasses import dataclass
from uuid import UUID

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PUBLIC_CHARACTERS = 12
_SECRET_BYTES = 32
_SECRET_CHARACTERS = 43  # 62 ** 43 > 2 ** 256
_CHECKSUM_CHARACTERS = 6  # 62 ** 6 > 2 ** 32

_FORMAT = re.compile(
    rf"(hk_([0-9A-Za-z]{{{_PUBLIC_CHARACTERS}}})_[0-9A-Za-z]{{{_SECRET_CHARACTERS}}})"
    rf"([0-9A-Za-z]{{{_CHECKSUM_CHARACTERS}}})",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class PresentedKey:
    """A key that somebody sent: well-formed, not yet known to be good."""

    public_id: str
    hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MintedKey:
    """A new key. `text` is shown once and kept nowhere; its representation shows nothing."""

    text: str
    public_id: str
    hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """What is kept of a key and may be shown: neither the secret nor its hash."""

    id: UUID
    tenant_id: UUID
    user_id: UUID  # acts as this user
    public_id: str
    name: str
    created_by: UUID | None  # None: made by `hango admin bootstrap`
    created_at: str
    last_used_at: str | None  # within a minute
    expires_at: str | None
    revoked_at: str | None

    @property
    def prefix(self) -> str:
        """How people recognise the key in a list."""
        return f"hk_{self.public_id}"


def mint() -> MintedKey:
    """Make a new key with 256 bits of secret."""
    public_id = "".join(secrets.choice(_DIGITS) for _ in range(_PUBLIC_CHARACTERS))
    secret = _base62(int.from_bytes(secrets.token_bytes(_SECRET_BYTES), "big"), _SECRET_CHARACTERS)
    body = f"hk_{public_id}_{secret}"
    text = body + _checksum(body)
    return MintedKey(text=text, public_id=public_id, hash=_hash(text))


def parse(text: str) -> PresentedKey | None:
    """The key that `text` is, or None when it cannot be one: its shape or its checksum is wrong."""
    match = _FORMAT.fullmatch(text)
    if match is None or _checksum(match[1]) != match[3]:
        return None
    return PresentedKey(public_id=match[2], hash=_hash(text))


def matches(presented: PresentedKey, stored_hash: bytes | None) -> bool:
    """Whether the presented secret is the stored one, in constant time.

    An unknown id (None) takes the same path, so that time does not tell it from a wrong secret.
    """
    return hmac.compare_digest(presented.hash, stored_hash or _NOBODYS_HASH)


# SHA-256 and no slow hash: nobody can guess 256 bits, and a slow hash in front of every request
# would be a way to stop the service.
def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("ascii")).digest()


_NOBODYS_HASH = secrets.token_bytes(32)


def _checksum(body: str) -> str:
    return _base62(zlib.crc32(body.encode("ascii")), _CHECKSUM_CHARACTERS)


def _base62(number: int, width: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 62)
        digits = _DIGITS[digit] + digits
    return digits.rjust(width, "0")
