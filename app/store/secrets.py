"""Secrets at rest: AES-256-GCM, each bound to its row, under a key that the database never sees."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Sequence
from hashlib import sha256
from uuid import UUID

from app.errors import SecretsUnavailable

_NONCE_BYTES = 12
NO_KEY = "This deployment cannot keep secrets: it needs HANGO_SECRET_KEY."
OTHER_KEY = "A stored secret was sealed with a key that is not HANGO_SECRET_KEY, nor an old one."


class Vault:
    """Seals texts and opens them again. `repr` shows nothing."""

    def __init__(self, keys: Sequence[bytes] = ()) -> None:
        """The first key seals; all of them open. Without any, nothing can be kept."""
        self._keys = {_key_id(key): key for key in keys}

    @property
    def key_ids(self) -> tuple[str, ...]:
        """What sealed texts begin with, by the key that seals them; the newest key's first."""
        return tuple(self._keys)

    def seal(self, text: str, about: str) -> str:
        """The text, sealed. It opens only with the same `about`: whose it is and what it is.

        Raises:
            SecretsUnavailable: there is no key.
        """
        if not self._keys:
            raise SecretsUnavailable(NO_KEY)
        key_id, key = next(iter(self._keys.items()))
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = _cipher(key).encrypt(nonce, text.encode(), about.encode())
        return f"{key_id}.{_encoded(nonce)}.{_encoded(sealed)}"

    def open(self, sealed: str, about: str) -> str:
        """The text that was sealed.

        Raises:
            SecretsUnavailable: it was sealed with another key, is another row's, or was altered.
        """
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 (slow, and seldom needed)

        key_id, nonce, data = sealed.split(".")
        key = self._keys.get(key_id)
        if key is None:
            raise SecretsUnavailable(OTHER_KEY if self._keys else NO_KEY)
        try:
            text: bytes = _cipher(key).decrypt(_decoded(nonce), _decoded(data), about.encode())
        except InvalidTag:
            raise SecretsUnavailable(OTHER_KEY) from None
        return text.decode()


def about(tenant_id: UUID | str, table: str, key: UUID | str) -> str:
    """What binds a secret to its row: it opens in this one alone."""
    return f"{tenant_id}|{table}|{key}"


def _cipher(key: bytes):  # type: ignore[no-untyped-def]  # its type cannot be named here
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 (as above)

    return AESGCM(key)


def _key_id(key: bytes) -> str:
    """Tells keys apart, and nothing about them."""
    return sha256(b"hango key id" + key).hexdigest()[:8]


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text)
