"""Runs: one turn of a user's, carried on by workers until the model is done or a limit is met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

import msgspec

from app.domain.agents import Agent
from app.domain.overrides import Override
from app.domain.ports import MemoryFile, Skill
from app.domain.principals import Principal

MAX_STARTS = 3  # a run that kills its workers is not started more often


class Status(StrEnum):
    """Where a run stands."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether nothing more happens."""
        return self not in (Status.QUEUED, Status.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run as it is stored. `stop_reason` is the model's, or the limit that was met."""

    id: UUID
    session_id: UUID
    agent_id: UUID
    owner_id: UUID
    key_id: UUID | None
    parent_run_id: UUID | None
    status: Status
    stop_reason: str | None
    error_code: str | None
    error_detail: str | None
    error_retryable: bool | None
    max_turns: int | None
    turns: int
    seqs: Sequence[int]  # of the messages that it wrote, the user's first
    created_at: str
    started_at: str | None
    finished_at: str | None
    cancel_requested_at: str | None
    deadline_at: str | None


@dataclass(frozen=True, slots=True)
class Held:
    """A worker's claim on a run. What is written under another attempt than the newest fails."""

    run_id: UUID
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A run that a worker has just claimed, and what it needs to go on."""

    run: Run
    held: Held
    principal: Principal  # in whose name it acts
    seconds_left: float  # until the run's deadline, by the database's clock
    loaded: Mapping[str, Any] | None  # what an earlier worker had loaded for it: see `Loaded`


class Loaded(msgspec.Struct, frozen=True):
    """What is read once per run, so that no turn sees another context than the one before."""

    agent: Agent
    memory: tuple[MemoryFile, ...]
    skills: tuple[Skill, ...]
    overrides: tuple[Override, ...]


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended."""

    status: Status
    stop_reason: str | None = None
    error_code: str | None = None
    error_detail: str | None = None  # our own words; never content
    error_retryable: bool | None = None


CANCELLED = Ending(Status.CANCELLED)
DEADLINE = Ending(
    Status.TIMED_OUT,
    error_code="deadline_passed",
    error_detail="The run was stopped at its deadline.",
    error_retryable=True,
)
WORKER_LOST = Ending(
    Status.FAILED,
    error_code="worker_lost",
    error_detail="The worker ended in the middle of a turn, whose outcome is not known.",
    error_retryable=True,
)
