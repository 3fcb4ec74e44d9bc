"""Work that a worker claims, runs and tries: queued, kept by a lease, settled once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar
from uuid import UUID

import msgspec

from app.domain.agents import Agent
from app.domain.outside import OutsideTool
from app.domain.overrides import Override
from app.domain.ports import MemoryFile, Skill
from app.domain.principals import Principal

MAX_STARTS = 3  # work that kills its workers is not started more often


class Status(StrEnum):
    """Where it stands."""

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
class Work:
    """What is stored of all of it. `stop_reason` is the model's, or the limit that was met."""

    id: UUID
    session_id: UUID
    owner_id: UUID
    key_id: UUID | None
    status: Status
    stop_reason: str | None
    error_code: str | None
    error_detail: str | None
    error_retryable: bool | None
    created_at: str
    started_at: str | None
    finished_at: str | None
    cancel_requested_at: str | None
    deadline_at: str | None

    @property
    def can_be_cancelled(self) -> bool:
        """Whether a cancellation changes anything: it has not ended, and nobody asked before."""
        return not self.status.is_final and self.cancel_requested_at is None


W = TypeVar("W", bound=Work)


@dataclass(frozen=True, slots=True)
class Held:
    """A worker's claim. What is written under another attempt than the newest fails."""

    id: UUID  # of the run or the try
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed(Generic[W]):
    """What a worker has just claimed, and needs to go on."""

    work: W
    held: Held
    principal: Principal  # in whose name it acts
    seconds_left: float  # until the deadline, by the database's clock
    loaded: Mapping[str, Any] | None  # what was read for it before: see `Loaded`
    is_allowed: bool = True  # its user and its key were still good when it was claimed


class Loaded(msgspec.Struct, frozen=True):
    """What is read once, so that no call sees another context than the one that was meant."""

    agent: Agent
    memory: tuple[MemoryFile, ...]
    skills: tuple[Skill, ...]
    overrides: tuple[Override, ...]
    last_seq: int | None = None  # later messages are none of it; None: all are
    outside: tuple[OutsideTool, ...] = ()
    message: str | None = None  # a user's text behind them, which nothing persists
    # The saved ones among the overrides of a try, as they were: what it is compared with.
    saved: tuple[Override, ...] | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """How it ended."""

    status: Status
    stop_reason: str | None = None
    error_code: str | None = None
    error_detail: str | None = None  # our own words; never content
    error_retryable: bool | None = None


CANCELLED = Ending(Status.CANCELLED)
DEADLINE = Ending(
    Status.TIMED_OUT,
    error_code="deadline_passed",
    error_detail="It was stopped at its deadline.",
    error_retryable=True,
)
WORKER_LOST = Ending(
    Status.FAILED,
    error_code="worker_lost",
    error_detail="The worker ended in the middle of it. Whether a call was answered is not known.",
    error_retryable=True,
)
