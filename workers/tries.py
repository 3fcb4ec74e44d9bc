"""Jobs on tries."""

from __future__ import annotations

from uuid import UUID

from app.domain.jobs import Job
from app.runtime import Runtime
from app.services import tries, try_execution
from workers.base import job


@job(Job.EXECUTE_TRY)
def execute(runtime: Runtime, try_id: str) -> None:
    """Carry a try out, if nobody else does."""
    try_execution.execute(runtime, UUID(try_id))


@job(Job.SWEEP_TRIES)
def sweep(runtime: Runtime) -> None:
    """Settle the tries of dead workers, and nudge those that nobody was told of."""
    tries.sweep(runtime)


@job(Job.PURGE_TRIES)
def purge(runtime: Runtime) -> None:
    """Throw away the tries whose time is over."""
    tries.purge(runtime)
