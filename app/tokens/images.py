"""What images cost: Anthropic's vision documentation, August to November 2026."""

from __future__ import annotations

from app.domain.catalogue import ImageTier

PATCH = 28  # pixels
_LONGEST_EDGE: dict[ImageTier, int] = {"standard": 1568, "high": 2576}  # pixels
_MOST_TOKENS: dict[ImageTier, int] = {"standard": 1568, "high": 4784}

_TYPICAL = (1920, 1080)  # a screenshot, for images whose size is unknown


def image_tokens(width: int, height: int, tier: ImageTier) -> int:
    """One token for each patch of 28 × 28 pixels, after shrinking to the tier's limits."""
    return _patches(*fitted(width, height, tier))


def largest_image_tokens(tier: ImageTier) -> int:
    """What no image costs more than."""
    return _MOST_TOKENS[tier]


def typical_image_tokens(tier: ImageTier) -> int:
    """What to assume of an image that cannot be measured: by URL, by file id, damaged."""
    return image_tokens(*_TYPICAL, tier)


def fitted(width: int, height: int, tier: ImageTier) -> tuple[int, int]:
    """The largest size of the same shape, never above the given one, that the tier takes."""
    if _fits(width, height, tier):
        return width, height
    long, short = max(width, height), min(width, height)
    fits, too_long = 1, min(long, _LONGEST_EDGE[tier] + 1)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if _fits(middle, _scaled(short, middle, long), tier):
            fits = middle
        else:
            too_long = middle
    edges = (fits, _scaled(short, fits, long))
    return edges if width >= height else (edges[1], edges[0])


def _fits(width: int, height: int, tier: ImageTier) -> bool:
    edge = -(-max(width, height) // PATCH) * PATCH
    return edge <= _LONGEST_EDGE[tier] and _patches(width, height) <= _MOST_TOKENS[tier]


def _patches(width: int, height: int) -> int:
    return -(-width // PATCH) * -(-height // PATCH)


def _scaled(edge: int, numerator: int, denominator: int) -> int:
    """`edge` × numerator / denominator, a half rounded up, at least one pixel."""
    return max(1, (2 * edge * numerator + denominator) // (2 * denominator))
