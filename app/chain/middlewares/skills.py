"""Skills: an index of what the agent knows how to do, and a tool that reads one in full."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.chain.middleware import Middleware
from app.chain.prompts import contributed_block, contributed_tools
from app.domain.ports import Skill, Sources
from app.domain.requests import RunState, SystemBlock, Tool


class _Loaded(msgspec.Struct, frozen=True):
    skills: Sequence[Skill]


class Skills(Middleware):
    """Contributes the index and `read_skill`; nothing for an agent without skills."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def before_run(self, state: RunState) -> None:
        """Load the index once per run."""
        used = state.agent.uses("skills")
        state.put(_Loaded(self._sources.skills(state.agent.id) if used else ()))

    def system_blocks(self, state: RunState) -> Sequence[SystemBlock]:
        skills = state.get(_Loaded).skills
        index = "\n".join(f"- {each.name}: {each.description}" for each in skills)
        return contributed_block(state.agent, "skills", index=index) if index else ()

    def tools(self, state: RunState) -> Sequence[Tool]:
        return contributed_tools(state.agent, "skills") if state.get(_Loaded).skills else ()
