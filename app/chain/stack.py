"""THE default order of the chain, outermost first, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from app.chain.chain import Chain
from app.chain.middlewares.context_overrides import ContextOverrides, OverrideSource
from app.chain.middlewares.filesystem import Filesystem
from app.chain.middlewares.guard import Guard
from app.chain.middlewares.injections import Injections
from app.chain.middlewares.memory import Memory
from app.chain.middlewares.outside_tools import OutsideTools
from app.chain.middlewares.patch_tool_calls import PatchToolCalls
from app.chain.middlewares.prompt_cache import PromptCache
from app.chain.middlewares.skills import Skills
from app.chain.middlewares.subagents import Subagents
from app.chain.middlewares.todo import Todo
from app.chain.middlewares.tool_allowlist import ToolAllowlist
from app.chain.skills_in_use import SkillsInUse
from app.chain.thinking import ThoughtSource
from app.domain.injections import Injected
from app.domain.ports import ContentReader, Delegate, Estimator, Outside, Sources, Workspace


class Reads(NamedTuple):
    """What the stack reads from outside, for one principal."""

    sources: Sources
    overrides: OverrideSource
    thoughts: ThoughtSource
    contents: ContentReader


class Workbench(NamedTuple):
    """What the tools work on in a run: nothing that a request is made of."""

    workspace: Workspace
    delegate: Delegate | None = None  # None: `task` tells the model that there are no helpers
    skills_in_use: SkillsInUse | None = None  # the run's own, if its turns have a chain each
    outside: Outside | None = None  # None: tools from outside are not carried out


def default_chain(
    reads: Reads,
    estimator: Estimator,
    workbench: Workbench | None = None,
    injected: Sequence[Injected] | None = None,
) -> Chain:
    """The stack that every run, try and inspect goes through.

    `injected`: what was gathered for this call; None: nothing was, nor was it to be.
    Without a workbench the tools are the same to the model, and those that would need it have
    no handler.
    """
    workspace, delegate, in_use, outside = workbench or (None, None, None, None)
    return Chain(
        [
            # Contributors, in the order of their blocks in the system prompt: what is built in
            # stands before what the agent learns, so that the steadiest prefix is the longest.
            Todo(workspace),
            Filesystem(estimator, workspace),
            Subagents(delegate),
            Memory(reads.sources),
            Skills(reads.sources, estimator, in_use),
            OutsideTools(reads.sources, estimator, outside),
            # Last of the contributors: behind the cache mark, what changes spoils nothing.
            Injections(injected),
            # Repairs before overrides: an override may name a synthetic part's neighbour.
            PatchToolCalls(estimator),
            # Before Guard: the budget sees the history that is really sent.
            ContextOverrides(reads.overrides, reads.thoughts, reads.contents, estimator),
            Guard(estimator),
            # After everything that adds or takes away blocks: the mark lies on a sent block.
            PromptCache(),
            # Last: nothing can add an excluded tool back.
            ToolAllowlist(),
        ]
    )
