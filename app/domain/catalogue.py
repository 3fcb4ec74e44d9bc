"""What is known of each model: limits, tokenizer family, what it takes and refuses.

The facts are data (catalogue.json); this module finds the row that a model's name means. A name
may carry what providers and gateways put around it:

    claude-sonnet-4-5-20250929                               a dated id
    claude-sonnet-4-5@20250929, …@latest, …-latest           Vertex AI, aliases
    anthropic/claude-sonnet-4.5, openrouter/anthropic/…      a gateway's prefix, a dotted version
    bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0     Bedrock, regions and ARNs included
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Literal

import msgspec

TokenizerFamily = Literal["claude-4.6", "claude-4.7"]
ImageTier = Literal["standard", "high"]
ThinkingMode = Literal["adaptive", "enabled", "disabled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPrompt:
    """The hidden system prompt that the provider adds to a request with tools, in tokens."""

    auto: int  # with tool_choice auto, none, or absent
    any: int  # with tool_choice any or tool
    as_of: str  # the provider changes these prompts: the year and month of the figure
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What one model takes, and how it counts.

    Where the facts of an unknown model are needed, each has the value that is safe to assume:
    the smaller limit, the larger count, the feature left out.
    """

    id: str  # the model's undated public name; of an unknown model, the name as it was given
    known: bool
    window: int  # tokens, input and output together
    max_output: int  # tokens
    min_cache_tokens: int  # a shorter prefix is silently not cached
    tokenizer_family: TokenizerFamily
    image_tier: ImageTier  # how images are counted
    thinking_modes: tuple[ThinkingMode, ...]  # empty: send no `thinking` field
    thinking_by_default: bool  # thinks when the request has no `thinking` field
    prefill: bool  # the last message may be the assistant's
    forced_tools: bool  # tool_choice any and tool
    system_messages: bool  # role "system" within `messages`
    preserved_thinking: bool  # thinking blocks are bound to the exact prefix before them
    tool_prompt: ToolPrompt
    takes_temperature: bool = False  # API version 2026-10-21 refuses sampling parameters

    @property
    def image_limits_tier(self) -> ImageTier:
        """The tier whose limits every image keeps to: of an unknown model, the lower one."""
        return self.image_tier if self.known else "standard"


class Catalogue:
    """A set of model rows, and the row for a model that is not in it."""

    def __init__(self, data: bytes) -> None:
        """Read a catalogue in the form of catalogue.json.

        Raises:
            msgspec.MsgspecError: the data does not have that form.
        """
        tables = msgspec.json.decode(data, type=_Tables)
        prompts = tables.tool_prompts
        self._unknown = _with_prompt(tables.unknown, prompts)
        self._rows = {
            _canonical(row["id"]): _facts(_with_prompt(row, prompts), known=True)
            for row in tables.models
        }

    def __iter__(self) -> Iterator[ModelFacts]:
        return iter(self._rows.values())

    def facts_for(self, model: str) -> ModelFacts:
        """The facts of the model that `model` names; those safe to assume where none does."""
        found = self._rows.get(_canonical(model))
        return found or _facts({**self._unknown, "id": model}, known=False)


@cache
def catalogue() -> Catalogue:
    """The catalogue that ships with hango."""
    return Catalogue(resources.files("app.domain").joinpath("catalogue.json").read_bytes())


@lru_cache(maxsize=1024)
def facts_for(model: str) -> ModelFacts:
    """The facts of the model that `model` names, by the shipped catalogue. Never raises."""
    return catalogue().facts_for(model)


class _Tables(msgspec.Struct):
    as_of: str
    sources: list[str]
    tool_prompts: dict[str, dict[str, Any]]
    models: list[dict[str, Any]]
    unknown: dict[str, Any]


def _with_prompt(row: Mapping[str, Any], prompts: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "tool_prompt": prompts[row["tool_prompt"]]}


def _facts(row: Mapping[str, Any], *, known: bool) -> ModelFacts:
    return msgspec.convert({**row, "known": known}, type=ModelFacts)


_NAME = re.compile(
    r"""(?:.*[/.:])?                     # a gateway's or provider's prefix
        claude-
        (?: (?P<line>[a-z]+) - (?P<version> \d{1,2}(?:[-.]\d{1,2})? | preview )
          | (?P<old_version> \d{1,2}(?:[-.]\d{1,2})? ) - (?P<old_line>[a-z]+) )
        (?: -\d{8} | -latest )?
        (?: -v\d+ )?                     # Bedrock's and Vertex AI's revision of a model
        (?: [:@\[] .* )?                 # :0, :beta, @20250929, [1m]
    """,
    re.VERBOSE | re.DOTALL,
)


def _canonical(model: str) -> str:
    """One spelling for all names of a model: `claude-<line>-<version>`, without a trailing -0."""
    name = model.strip().lower()
    parts = _NAME.fullmatch(name)
    if parts is None:
        return name
    line = parts["line"] or parts["old_line"]
    version = (parts["version"] or parts["old_version"]).replace(".", "-")
    return f"claude-{line}-{version.removesuffix('-0')}"
