"""Jobs on runs."""

from __future__ import annotations

from uuid import UUID

from app.domain.jobs import Job
from app.runtime import Runtime
from app.services import execution, runs
from workers.base import job


@job(Job.EXECUTE_RUN)
def execute(runtime: Runtime, run_id: str) -> None:
    """Carry a run out, if nobody else does."""
    execution.execute(runtime, UUID(run_id))


@job(Job.SWEEP_RUNS)
def sweep(runtime: Runtime) -> None:
    """Settle the runs of dead workers, and nudge those that nobody was told of."""
    runs.sweep(runtime)
