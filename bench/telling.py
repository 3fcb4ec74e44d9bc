"""A worker of hango's whose one job has nothing to do but to tell that it has ended.

celery --app bench.telling worker --queues calls
"""

from __future__ import annotations

from uuid import UUID

from app.domain.jobs import Job
from app.domain.work import Status
from app.runtime import Runtime
from app.settings import Settings
from workers.base import application, job


@job(Job.EXECUTE_TRY)
def tell(runtime: Runtime, try_id: str) -> None:
    """As a try does at its end."""
    runtime.events.ended(UUID(try_id), Status.SUCCEEDED)


app = application(Settings.from_environment())
