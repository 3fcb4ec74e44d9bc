"""Parts: the addressable pieces of a model request, and the grammar of their ids.

    system:<contributor>[:<path>]   system:agent, system:memory:/memories/AGENTS.md
    tool:<name>                     tool:read_file
    message:<seq>                   message:12, a plain positive decimal
    summary                         the compaction summary
    synthetic:<name>                a message that nobody wrote and nothing persists

An id is one exact string: it is compared, never cleaned up.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Literal, NewType

import msgspec

from app.errors import BadPart

PartId = NewType("PartId", str)
PartKind = Literal["system", "tool", "message", "summary"]
OverrideState = Literal["none", "exclude", "replace"]

SUMMARY = PartId("summary")
CONTINUE = PartId("synthetic:continue")
EXTRA_MESSAGE = PartId("synthetic:message")  # of a try: somebody wrote it, nothing persists it

MAX_SEQ = 2**31 - 1
MAX_PART_ID_CHARACTERS = 512

_SEQ = re.compile(r"[1-9][0-9]{0,9}", re.ASCII)
_CONTRIBUTOR = re.compile(r"[a-z][a-z0-9_-]{0,63}", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


def system_part(contributor: str, path: str | None = None) -> PartId:
    """The id of a system block of `contributor`; `path` tells its blocks apart."""
    return PartId(f"system:{contributor}" if path is None else f"system:{contributor}:{path}")


def tool_part(name: str) -> PartId:
    """The id of the definition of the tool `name`."""
    return PartId(f"tool:{name}")


# Every request of every session names the same low numbers again, several times each.
@lru_cache(maxsize=65_536)
def message_part(seq: int) -> PartId:
    """The id of the persisted message number `seq`, counted from 1."""
    return PartId(f"message:{seq}")


def synthetic_part(name: str) -> PartId:
    """The id of a message that the chain makes for one request alone."""
    return PartId(f"synthetic:{name}")


def parse_part(text: str) -> PartId:
    """Check that `text` is a well-formed part id, and return it as it is.

    Raises:
        BadPart: unknown kind, empty name, a seq that is not a plain positive decimal.
    """
    kind, colon, name = text.partition(":")
    if len(text) <= MAX_PART_ID_CHARACTERS and not _CONTROL.search(text):
        if kind == "summary" and not colon:
            return SUMMARY
        if kind == "message" and _SEQ.fullmatch(name) and int(name) <= MAX_SEQ:
            return PartId(text)
        if kind in ("tool", "synthetic") and name:
            return PartId(text)
        if kind == "system" and _is_system_name(name):
            return PartId(text)
    raise BadPart(
        "A part id is system:<contributor>[:<path>], tool:<name>, message:<seq>, summary or "
        "synthetic:<name>; the context of the session lists those that exist."
    )


def seq_of(part: str) -> int | None:
    """The message number that a well-formed id names, or None where it names no message."""
    kind, _, name = part.partition(":")
    return int(name) if kind == "message" else None


def _is_system_name(name: str) -> bool:
    contributor, colon, path = name.partition(":")
    return bool(_CONTRIBUTOR.fullmatch(contributor)) and (not colon or bool(path))


class Part(msgspec.Struct, omit_defaults=True, gc=False):
    """One piece of an assembled request, as inspect lists it.

    What has no default is always in the JSON; the marks below are there only where they say
    something.
    """

    id: str
    kind: PartKind
    label: str  # short, for people: read_file, "#12 assistant", /memories/AGENTS.md
    preview: str  # one line, at most 200 characters
    tokens: int  # what it costs when sent; of an excluded part, what it would cost
    included: bool
    override: OverrideState
    cached_prefix: bool  # stands before the last cache mark that is sent
    sha256: str  # of its content as it would be sent
    contributor: str  # the middleware that put it there
    role: str | None = None  # of messages
    origin: str | None = None  # the file, version or setting that it comes from
    stale: bool = False  # an override names it, and it is not there
    base_changed: bool = False  # its original is not what it was when the replacement was saved
    paired_with: list[str] | None = None
    synthetic: bool = False
    compacted: bool = False
    truncated: bool = False
    thinking_dropped: bool = False
    rough: bool = False  # the count is a bound or a guess: an image by URL, an unknown block
    tokens_before: int | None = None  # of a replaced part: what the original costs
    unavailable: str | None = None  # of an injection that failed: the code of why


class SentMessage(msgspec.Struct, gc=False):
    """A persisted message that is sent just as it is: a `Part` without any mark.

    Nearly all of a long session's parts are of this kind, and one is made and written for each:
    having no fields beside those that are always there halves what that costs.
    """

    id: str
    kind: PartKind
    label: str
    preview: str
    tokens: int
    included: bool
    override: OverrideState
    cached_prefix: bool
    sha256: str
    contributor: str
    role: str

    stale: ClassVar[bool] = False
    base_changed: ClassVar[bool] = False
    thinking_dropped: ClassVar[bool] = False
    rough: ClassVar[bool] = False
    tokens_before: ClassVar[int | None] = None
    unavailable: ClassVar[str | None] = None


if TYPE_CHECKING:
    AnyPart = Part | SentMessage
else:
    # The JSON schema is made of the annotations, and in JSON a SentMessage is a Part.
    AnyPart = Part
