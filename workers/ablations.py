"""Jobs on ablations."""

from __future__ import annotations

from uuid import UUID

from app.domain.jobs import Job
from app.runtime import Runtime
from app.services import ablations
from workers.base import job


@job(Job.CARRY_ON_ABLATION)
def carry_on(runtime: Runtime, ablation_id: str) -> None:
    """Note what came out of its tries, and start the next ones."""
    ablations.carry_on(runtime, UUID(ablation_id))


@job(Job.SWEEP_ABLATIONS)
def sweep(runtime: Runtime) -> None:
    """Carry on with those that nobody was told of."""
    ablations.sweep(runtime)
