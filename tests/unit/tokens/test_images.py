import pytest

from app.domain.catalogue import ImageTier
from app.tokens.images import fitted, image_tokens, largest_image_tokens, typical_image_tokens

# Anthropic's vision documentation, worked examples of August to November 2026.
DOCUMENTED = [
    ((200, 200), 64, 64),
    ((1000, 1000), 1296, 1296),
    ((1092, 1092), 1521, 1521),
    ((1920, 1080), 1560, 2691),
    ((2000, 1500), 1564, 3888),
    ((3840, 2160), 1560, 4784),
    ((1075, 1520), 1551, 2145),
]
RESIZED: list[tuple[tuple[int, int], ImageTier, tuple[int, int]]] = [
    ((1920, 1080), "standard", (1456, 819)),
    ((2000, 1500), "standard", (1269, 952)),
    ((3840, 2160), "high", (2576, 1449)),
    ((1075, 1520), "standard", (924, 1307)),
    ((1000, 1000), "standard", (1000, 1000)),
]


@pytest.mark.parametrize(("size", "standard", "high"), DOCUMENTED)
def test_an_image_costs_its_patches(size: tuple[int, int], standard: int, high: int) -> None:
    assert image_tokens(*size, "standard") == standard
    assert image_tokens(*size, "high") == high


@pytest.mark.parametrize(("size", "tier", "expected"), RESIZED)
def test_a_large_image_is_shrunk(
    size: tuple[int, int], tier: ImageTier, expected: tuple[int, int]
) -> None:
    assert fitted(*size, tier) == expected
    assert fitted(*reversed(size), tier) == tuple(reversed(expected))


@pytest.mark.parametrize("tier", ["standard", "high"])
@pytest.mark.parametrize("size", [(1, 1), (1, 100_000), (8000, 8000), (8000, 1), (2577, 29)])
def test_no_image_costs_more_than_the_limit(size: tuple[int, int], tier: ImageTier) -> None:
    assert 1 <= image_tokens(*size, tier) <= largest_image_tokens(tier)


def test_an_unmeasured_image_is_taken_for_a_screenshot() -> None:
    assert typical_image_tokens("standard") == 1560
    assert typical_image_tokens("high") == 2691
