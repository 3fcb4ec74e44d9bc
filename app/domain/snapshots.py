"""Snapshots: what the next call would send, as parts with totals. The JSON of inspect."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.domain.injections import State
from app.domain.parts import AnyPart


class BeforeAfter(msgspec.Struct, frozen=True):
    """A sum of tokens before and after overrides."""

    before: int
    after: int


class Page(msgspec.Struct, frozen=True):
    """What a paged list of messages leaves out at its front."""

    before: int | None  # give it as `messages_before` for the page before; None: no more
    total: int  # parts in the whole group


class Group(msgspec.Struct, omit_defaults=True):
    """One of the three groups of parts, in the order in which they are sent."""

    parts: list[AnyPart]
    tokens: BeforeAfter  # over the whole group, also when `parts` is a page
    page: Page | None = None


class Groups(msgspec.Struct):
    """System blocks, tool definitions, messages."""

    system: Group
    tools: Group
    messages: Group


class Totals(msgspec.Struct, frozen=True):
    """The whole request, in tokens. Groups plus framing are the total, exactly."""

    before: int
    after: int
    framing: int  # of the request as it is sent
    counted: Literal["estimate", "provider"]
    estimator: str
    window: int
    reserved_output: int
    remaining: int  # window less reserved output less the request; negative when over
    available: int  # the most that the guard lets through
    trigger: int  # where compaction starts
    rough: bool  # some part's count is a bound or a guess
    provider_tokens: int | None = None  # the provider's own count of the whole request
    not_counted: str | None = None  # why there is none, where one was asked for


class OverridesView(msgspec.Struct, frozen=True, omit_defaults=True):
    """How many overrides there are, and what became of them."""

    active: int
    stale: int
    base_changed: int = 0  # replacements whose original is not what it was when they were saved
    suspended: str | None = None  # the reason, when the session's set was left out as a whole
    suspended_at: str | None = None  # the part that it was found at


class CacheView(msgspec.Struct, frozen=True):
    """What the provider may keep. `effective`: large enough for this model to be kept at all."""

    breakpoint: str | None
    prefix_tokens: int
    minimum_tokens: int
    effective: bool


class InjectionView(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of the agent's injections, and what came of it in this request."""

    name: str
    part: str  # the id of the part that it becomes
    state: State
    code: str | None = None  # why it failed, or does not bring all that it might


class Snapshot(msgspec.Struct, omit_defaults=True):
    """What the next model call of a session would send."""

    session_id: str
    agent_id: str
    model: str
    model_known: bool
    transparent: bool  # False: injections were gathered, which may be seen outside
    request_sha256: str
    groups: Groups
    totals: Totals
    would_compact: bool
    overrides: OverridesView
    cache: CacheView
    sendable: bool  # False while there is no message to send
    tool_choice: dict[str, object] | None = None
    injections: list[InjectionView] = []
    # Tools that the agent names and that are not sent: nothing registered has their name.
    missing_tools: tuple[str, ...] = ()


class PartContent(msgspec.Struct):
    """One part in full."""

    session_id: str
    part: AnyPart
    content: object  # as the provider would get it: a block, a definition, or a message
    text: str  # its plain text, as its author wrote it
    before: object | None  # the content before an override, where one acts
    omitted_characters: int  # of base64 data left out of `content`; media=1 brings it
