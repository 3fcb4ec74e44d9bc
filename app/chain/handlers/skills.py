"""read_skill: shows a skill in full, and puts it in use."""

from __future__ import annotations

from collections.abc import Sequence

from app.chain.handlers.answers import Answers
from app.chain.handlers.inputs import CarryOut
from app.chain.skills_in_use import READ_SKILL, SkillsInUse
from app.domain.ports import Skill
from app.domain.tools import ToolError


class SkillTools:
    """The tool that reads a skill, of those that the run began with."""

    def __init__(self, skills: Sequence[Skill], in_use: SkillsInUse, answers: Answers) -> None:
        self._skills = {each.name: each for each in skills}
        self._in_use = in_use
        self._answers = answers

    def by_name(self) -> dict[str, CarryOut]:
        """What carries out each tool."""
        return {READ_SKILL: self.read_skill}

    def read_skill(self, name: str) -> str:
        """The skill's instructions. From the next model call on, its tools are those left."""
        skill = self._skills.get(name)
        if skill is None:
            raise ToolError(f"There is no skill of this name, only {', '.join(self._skills)}.")
        self._in_use.add(skill)
        head = f"Skill {skill.name}, version {skill.version}.{_narrowing(skill)}\n\n"
        return self._answers.fitted(lambda room: head + _bounded(skill.body, room))


def _bounded(body: str, characters: int) -> str:
    more = len(body) - characters
    if more <= 0:
        return body
    return f"{body[:characters]}\n\n[The skill is too long: {more:,} more characters.]"


def _narrowing(skill: Skill) -> str:
    if skill.allowed_tools is None:
        return ""
    others = [name for name in skill.allowed_tools if name != READ_SKILL]
    return f" For it you keep these tools: {', '.join([*others, READ_SKILL])}."
