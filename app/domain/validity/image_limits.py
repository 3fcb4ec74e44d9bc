"""How many images a request may hold, and how large each when there are many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.domain.catalogue import ModelFacts
from app.domain.images import image_header
from app.domain.validity.findings import Finding
from app.domain.validity.turns import Turn, all_blocks

MANY = 20  # above this number, each image has to be smaller
MAX_SIDE_OF_MANY = 2000  # pixels
LARGE_WINDOW = 1_000_000  # tokens
MAX_IMAGES = {True: 600, False: 100}  # with a large window, without one


def image_limit_findings(turns: Sequence[Turn], facts: ModelFacts) -> Iterator[Finding]:
    """Images of all messages and of the tool results in them, counted together."""
    images = [(path, block) for path, block in all_blocks(turns) if block.get("type") == "image"]
    most = MAX_IMAGES[facts.window >= LARGE_WINDOW]
    if len(images) > most:
        yield Finding(("messages",), "image_count", f"At most {most} images for this model.")
    for path, image in images if len(images) > MANY else ():
        source = image.get("source")
        header = image_header(source.get("data")) if isinstance(source, dict) else None
        if header and header.size and max(header.size) > MAX_SIDE_OF_MANY:
            yield Finding(path, "image_many", f"Among many, at most {MAX_SIDE_OF_MANY} px a side.")
