"""What the provider really counted: the rows of data/token_truth.jsonl.gz, and how to read them."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from app.domain.catalogue import facts_for
from app.tokens.calibration import Overhead
from app.tokens.classes import CLASSES, classes_of
from app.tokens.pieces import pieces
from app.tokens.ranks import ranks
from app.tokens.rendering import Rendering

DATA = Path(__file__).parent / "data" / "token_truth.jsonl.gz"

OLD, NEW = "claude-4.6", "claude-4.7"
SMALLEST = 50  # tokens: below, three tokens more or less are a large percentage

# The classes that the rows without content are counted in; of each, the classes that it became.
RECORDED: dict[str, tuple[str, ...]] = {
    "word": ("word",),
    "longword": ("longword",),
    "frag": ("frag",),
    "punctword": ("punctword",),
    "digits": ("digits",),
    "space": ("space",),
    "punct": ("punct", "punctline"),
    "nonascii": ("nonascii", "arrow", "cjk"),
}

_loaded = ranks()
assert _loaded is not None
ENCODE = _loaded.encoding.encode_ordinary
CLASS_OF = [CLASSES[each] for each in classes_of(_loaded.tokens)]


@dataclass(frozen=True)
class Row:
    """One measurement, and what of it costs tokens."""

    raw: dict[str, Any]

    @property
    def kind(self) -> str:
        return str(self.raw["kind"])

    @property
    def source(self) -> str:
        return str(self.raw["source"])

    @property
    def model(self) -> str:
        return str(self.raw["model"])

    @property
    def real(self) -> int:
        return int(self.raw["real"])

    @cached_property
    def family(self) -> str:
        return facts_for(self.model).tokenizer_family

    @property
    def has_content(self) -> bool:
        return "content" in self.raw or "request" in self.raw

    @property
    def is_request(self) -> bool:
        return self.kind in ("request", "count_tokens")

    @property
    def usable(self) -> bool:
        """Not an image, nothing hidden in between, and its tool definitions are there."""
        return not (
            self.kind == "delta_image"
            or self.raw.get("suspect_hidden_content")
            or self.raw.get("image_sizes")
            or (self.raw.get("n_tools") and not self.has_content)
        )

    @cached_property
    def rendering(self) -> Rendering:
        """Of the content, tool definitions and system prompt included."""
        rendering = Rendering(facts_for(self.model).image_tier)
        request = self.raw.get("request", {})
        rendering.blocks(self.raw.get("content"))
        rendering.blocks(request.get("system"))
        for tool in request.get("tools") or ():
            rendering.tool(tool)
        for message in request.get("messages", ()):
            rendering.blocks(message["content"])
        return rendering

    @cached_property
    def classes(self) -> Counter[str]:
        """How many tokens of each class its texts have.

        Where personal details were replaced after counting, the recorded figures are divided as
        the classes of the text are.
        """
        found = Counter(
            CLASS_OF[each]
            for text in self.rendering.texts
            for piece in pieces(text)
            for each in ENCODE(piece)
        )
        if self.raw.get("text_altered") and not self.is_request:
            return self.divided(found)
        return found

    def divided(self, shares: Counter[str]) -> Counter[str]:
        """The recorded counts, those of a class that was split divided as in `shares`."""
        counts: Counter[str] = Counter()
        recorded = zip(RECORDED.items(), self.raw["cl100k_classes"], strict=True)
        for (_, parts), count in recorded:
            total = sum(shares[part] for part in parts)
            for part in parts:
                share = shares[part] / total if total else float(part == parts[0])
                counts[part] += count * share  # type: ignore[assignment]
        return counts

    @cached_property
    def overheads(self) -> Counter[Overhead | str]:
        """What it costs beside its texts; `output_end` closes a message that was written."""
        if self.has_content:
            found: Counter[Overhead | str] = Counter(self.rendering.overheads)
        else:
            found = Counter(
                tool_use=self.raw.get("n_tool_use", 0),
                tool_use_key=self.raw.get("n_params", 0),
                tool_result=self.raw.get("n_tool_results", 0),
            )
        if self.is_request:
            found.update(request=1, message=self.raw.get("n_messages", 1))
        elif self.kind.startswith("output"):
            found.update(output_end=1)
        else:  # the input grew by an assistant's and a user's message
            found.update(message=2)
            if self.kind == "delta_user":  # … of which the first was taken off as output
                found.subtract(output_end=1)
        return found

    @property
    def tool_prompt(self) -> int:
        """What the provider's own prompt added."""
        if not self.raw.get("n_tools"):
            return 0
        choice = self.raw.get("tool_choice")
        kind = choice.get("type") if isinstance(choice, dict) else choice
        prompt = facts_for(self.model).tool_prompt
        return prompt.any if kind in ("any", "tool") else prompt.auto


def read() -> list[Row]:
    """All rows, in the order of the file."""
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        return [Row(json.loads(line)) for line in lines]


def shares(rows: list[Row]) -> Counter[str]:
    """How the split classes divide in the rows that have content."""
    total: Counter[str] = Counter()
    for row in rows:
        if row.has_content:
            total.update(row.classes)
    return total
