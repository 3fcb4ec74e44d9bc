"""Money, to the last part that hango counts."""

from __future__ import annotations

MICRO = 1_000_000


def dollars(micro_dollars: int) -> str:
    """Millionths of a US dollar as dollars, none of them lost: 1,234.006928"""
    whole, rest = divmod(micro_dollars, MICRO)
    return f"{whole:,}.{rest:06}"
