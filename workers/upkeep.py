"""Periodic jobs: throw away what is past its time, look at what is measured."""

from __future__ import annotations

from app.domain.jobs import Job
from app.runtime import Runtime
from app.services import measures, quota, upkeep, usage, web_sessions
from workers.base import job


@job(Job.PURGE_IDEMPOTENCY)
def purge_idempotency(runtime: Runtime) -> None:
    """Forget idempotency keys that are older than they are promised to live."""
    upkeep.purge_idempotency(runtime)


@job(Job.PURGE_RESERVATIONS)
def purge_reservations(runtime: Runtime) -> None:
    """Forget what calls of long ago had reserved of their tenants' quotas."""
    quota.purge(runtime)


@job(Job.CHECK_ESTIMATES)
def check_estimates(runtime: Runtime) -> None:
    """Log the models whose token estimates are too far off."""
    usage.check_estimates(runtime)


@job(Job.REPORT_MEASURES)
def report_measures(runtime: Runtime) -> None:
    """Put on metrics what no single event tells."""
    measures.report(runtime)


@job(Job.PURGE_WEB_SESSIONS)
def purge_web_sessions(runtime: Runtime) -> None:
    """Forget web sessions that are over."""
    web_sessions.purge(runtime)
