"""Runs: one turn of a user's, carried on by workers until the model is done or a limit is met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from app.domain.work import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Work):
    """A run as it is stored."""

    agent_id: UUID
    parent_run_id: UUID | None  # of a helper's run: the run whose `task` it is
    parent_tool_use_id: str | None  # and the call that it answers
    max_turns: int | None
    turns: int
    seqs: Sequence[int]  # of the messages that it wrote, the user's first
