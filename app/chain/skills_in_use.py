"""Which skills a run has put in use, and which tools they leave it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from app.domain.messages import Block
from app.domain.ports import Skill

READ_SKILL = "read_skill"


class Narrowing(msgspec.Struct, frozen=True):
    """The tools that the skills in use leave to one model call."""

    allowed: frozenset[str] | None = None  # None: all

    def leaves(self, tool_name: str) -> bool:
        """Whether this tool is left. Never brings one in that is not there."""
        return self.allowed is None or tool_name in self.allowed


NOT_NARROWED = Narrowing()


class SkillsInUse:
    """Which skills a run has read so far: in use from then on to its end.

    Skills that name their tools narrow a run to what any of them names, so that it matters
    neither in which order nor how often they are read. Those that name none change nothing. The
    tool that reads skills always stays: without it no other skill could be turned to.
    """

    def __init__(self) -> None:
        # Calls of one turn run at the same time. One assignment to a key needs no lock.
        self._allowed: dict[str, frozenset[str]] = {}

    def add(self, skill: Skill) -> None:
        """Put a skill in use. Once more changes nothing."""
        if skill.allowed_tools is not None:
            self._allowed[skill.name] = frozenset(skill.allowed_tools)

    def narrowing(self) -> Narrowing:
        """What is left as of now."""
        if not self._allowed:
            return NOT_NARROWED
        return Narrowing(frozenset({READ_SKILL}).union(*self._allowed.values()))


def in_use_after(messages: Iterable[Sequence[Block]], skills: Iterable[Skill]) -> SkillsInUse:
    """What a run has in use after these messages of its own: to go on in another process."""
    blocks = [block for content in messages for block in content]
    failed = {
        block.get("tool_use_id")
        for block in blocks
        if block.get("type") == "tool_result" and block.get("is_error")
    }
    read = {_name(block) for block in blocks if _reads(block) and block.get("id") not in failed}
    in_use = SkillsInUse()
    for skill in skills:
        if skill.name in read:
            in_use.add(skill)
    return in_use


def _reads(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "tool_use" and block.get("name") == READ_SKILL


def _name(block: Mapping[str, Any]) -> str | None:
    given = block.get("input")
    name = given.get("name") if isinstance(given, Mapping) else None
    return name if isinstance(name, str) else None
