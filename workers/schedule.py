"""The beat table: what runs how often. Run one beat; two do no harm, since each job is a sweep."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from app.domain.jobs import Job


def _every(span: timedelta, job: Job) -> dict[str, Any]:
    # A sweep that could not run in time is worthless: the next one does its work.
    expires = span.total_seconds()
    return {"task": job, "schedule": span, "options": {"expires": expires}}


TABLE: dict[str, dict[str, Any]] = {
    "settle the runs of dead workers": _every(timedelta(seconds=10), Job.SWEEP_RUNS),
    "settle the tries of dead workers": _every(timedelta(seconds=10), Job.SWEEP_TRIES),
    "carry on with ablations": _every(timedelta(seconds=10), Job.SWEEP_ABLATIONS),
    "recount what was missed": _every(timedelta(hours=1), Job.SWEEP_COUNTS),
    "purge idempotency keys": _every(timedelta(minutes=15), Job.PURGE_IDEMPOTENCY),
    "purge web sessions": _every(timedelta(hours=1), Job.PURGE_WEB_SESSIONS),
    "purge tries": _every(timedelta(hours=1), Job.PURGE_TRIES),
    "check estimates": _every(timedelta(hours=1), Job.CHECK_ESTIMATES),
    "report measures": _every(timedelta(minutes=1), Job.REPORT_MEASURES),
    "purge quota reservations": _every(timedelta(hours=1), Job.PURGE_RESERVATIONS),
}
