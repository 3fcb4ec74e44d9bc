"""How the stored secrets of a deployment stand to the keys that it has."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SealedCounts:
    """Stored secrets of all tenants, by the key that opens them."""

    newest: int  # HANGO_SECRET_KEY
    older: int  # HANGO_OLD_SECRET_KEY
    unreadable: int  # neither of them


@dataclass(frozen=True, slots=True)
class Resealed:
    """What became of one batch of secrets that the older key opens."""

    sealed: int  # with the newest key now
    refused: int  # left as they were: altered, or another row's
    last: tuple[str, str, str] | None  # where the next batch goes on; None: there is none
