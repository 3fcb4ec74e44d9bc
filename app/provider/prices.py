"""What a call cost, by the public price list that `genai-prices` ships.

The list is part of the package: no network, and its version is the price's version.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from importlib import metadata
from typing import Any


@dataclass(frozen=True, slots=True)
class Price:
    """What a call cost, and by which list."""

    micro_dollars: int
    version: str  # "genai-prices/0.2.3"


FREE = Price(0, "offline")


def price(provider: str, model: str, usage: Mapping[str, Any], at: datetime) -> Price | None:
    """The price of a call at the moment `at`, from the `usage` object as the provider sent it.

    None for a model that has no price in the list: unknown, which is not free. Cached tokens,
    writes for an hour, size tiers and what a compaction within the call used are all in it.
    """
    if provider == "offline":
        return FREE
    # Prices are asked for by workers and reports; a third of a second at every start is too much.
    import genai_prices  # noqa: PLC0415

    total = Decimal(0)
    try:
        for each in _billed(usage):
            extracted = genai_prices.extract_usage(
                {"model": model, "usage": each}, provider_id=provider
            )
            total += genai_prices.calc_price(
                extracted.usage, model, provider_id=provider, genai_request_timestamp=at
            ).total_price
    except (LookupError, ValueError):
        return None
    micro_dollars = (total * 1_000_000).quantize(Decimal(1), ROUND_HALF_UP)
    return Price(int(micro_dollars), _version())


@cache
def _version() -> str:
    """Read once: reading it takes as long as all the rest of a call's price."""
    return f"genai-prices/{metadata.version('genai-prices')}"


def _billed(usage: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Each sampling of the call. The top-level figures leave out those of a compaction."""
    iterations = usage.get("iterations")
    if isinstance(iterations, list) and iterations:
        yield from iterations
    else:
        yield usage
