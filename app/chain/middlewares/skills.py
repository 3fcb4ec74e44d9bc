"""Skills: an index of what the agent knows how to do, and a tool that reads one in full."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.chain.handlers.answers import Answers
from app.chain.handlers.inputs import carried_out
from app.chain.handlers.skills import SkillTools
from app.chain.middleware import CallNext, Middleware, Reply
from app.chain.middlewares.guard import budget_of
from app.chain.prompts import contributed_block, contributed_tools
from app.chain.skills_in_use import SkillsInUse
from app.domain.ports import Estimator, Skill, Sources
from app.domain.requests import ModelRequest, RunState, SystemBlock, Tool


class _Loaded(msgspec.Struct, frozen=True):
    skills: Sequence[Skill]


class Skills(Middleware):
    """Contributes the index and `read_skill`; nothing for an agent without skills."""

    def __init__(
        self, sources: Sources, estimator: Estimator, in_use: SkillsInUse | None = None
    ) -> None:
        """`in_use`: what the run has read so far. Without it, nothing."""
        self._sources = sources
        self._estimator = estimator
        self._in_use = in_use

    def before_run(self, state: RunState) -> None:
        """Load the index once per run."""
        used = state.agent.uses("skills")
        state.put(_Loaded(self._sources.skills(state.agent.id) if used else ()))
        state.put(self._in_use or SkillsInUse())

    def system_blocks(self, state: RunState) -> Sequence[SystemBlock]:
        skills = state.get(_Loaded).skills
        index = "\n".join(f"- {each.name}: {each.description}" for each in skills)
        return contributed_block(state.agent, "skills", index=index) if index else ()

    def tools(self, state: RunState) -> Sequence[Tool]:
        skills = state.get(_Loaded).skills
        if not skills:
            return ()
        answers = Answers(budget_of(state).tool_output, self._estimator)
        tools = SkillTools(skills, state.get(SkillsInUse), answers)
        return contributed_tools(state.agent, "skills", carried_out(tools.by_name()))

    def wrap_model_call(self, request: ModelRequest, call_next: CallNext) -> Reply:
        # As of now: what is asked about this call once its tools have run has to be the same.
        request.state.put(request.state.get(SkillsInUse).narrowing())
        return call_next(request)
