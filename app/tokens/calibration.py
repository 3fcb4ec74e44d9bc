"""What each tokenizer family costs, as data: calibration.json."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Literal, get_args

import msgspec

from app.domain.catalogue import ImageTier, facts_for
from app.tokens.classes import CLASSES

# What a request costs beside its texts, each per piece of the kind that it names.
Overhead = Literal[
    "request",  # once, beside the messages' own shares
    "message",
    "tool_use",
    "tool_use_key",  # a top-level key of its input
    "tool_result",
    "tool",  # a tool definition
    "image",  # beside its patches
    "document",
    "citations",  # a document whose citations are switched on
    "pdf_page",  # the picture of a page; its text is counted as text
    "unread_byte",  # of text that cannot be read: unread pages, or no ranks
    "opaque_character",  # of what the provider encrypted: hidden thinking, search results
]


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """One family's costs, in tokens."""

    name: str
    image_tier: ImageTier
    weights: Mapping[str, float]  # of a token, by its class
    overheads: Mapping[Overhead, float]
    provider_tools: Mapping[str, float]  # by how the tool's type starts: "bash_" …

    def __post_init__(self) -> None:
        missing = {*CLASSES, *get_args(Overhead)} - {*self.weights, *self.overheads}
        if missing:
            raise ValueError(f"{self.name} has no figure for {', '.join(sorted(missing))}")


class Calibrations(msgspec.Struct, frozen=True, kw_only=True):
    """The file: what was fitted or measured, on what, when."""

    version: int  # grows with each change of a figure: stored counts are then counted again
    as_of: str
    provenance: Mapping[str, str]
    families: Mapping[str, Calibration]


METHOD = "cl100k-classes"


@cache
def calibrations() -> Calibrations:
    """The figures that ship with hango."""
    data = resources.files("app.tokens").joinpath("calibration.json").read_bytes()
    return msgspec.json.decode(data, type=Calibrations)


def calibration_for(model: str) -> Calibration:
    """The figures of the model itself where it has some, otherwise of its tokenizer family."""
    facts = facts_for(model)
    families = calibrations().families
    return families.get(facts.id) or families[facts.tokenizer_family]
