"""Jobs on messages."""

from __future__ import annotations

from uuid import UUID

from app.domain.jobs import Job
from app.runtime import Runtime
from app.services import messages
from workers.base import job


@job(Job.RECOUNT_MESSAGES)
def recount(runtime: Runtime, agent_id: str) -> None:
    """Count the messages of an agent's sessions with the estimator of its present model."""
    messages.recount(runtime, UUID(agent_id))


@job(Job.SWEEP_COUNTS)
def sweep(runtime: Runtime) -> None:
    """Find the agents whose recount never came, and nudge it."""
    messages.sweep_counts(runtime)
