"""The names of all jobs, and the queue that each waits in."""

from __future__ import annotations

from enum import StrEnum


class Job(StrEnum):
    """A unit of work of a worker. Takes at most one row id, never content."""

    RECOUNT_MESSAGES = "hango.messages.recount"
    SWEEP_COUNTS = "hango.messages.sweep"
    PURGE_IDEMPOTENCY = "hango.idempotency.purge"
    PURGE_WEB_SESSIONS = "hango.web_sessions.purge"
    EXECUTE_RUN = "hango.runs.execute"
    SWEEP_RUNS = "hango.runs.sweep"
    PURGE_RESERVATIONS = "hango.quota.purge"
    EXECUTE_TRY = "hango.tries.execute"
    SWEEP_TRIES = "hango.tries.sweep"
    PURGE_TRIES = "hango.tries.purge"
    CHECK_ESTIMATES = "hango.usage.check_estimates"
    REPORT_MEASURES = "hango.measures.report"
    CARRY_ON_ABLATION = "hango.ablations.carry_on"
    SWEEP_ABLATIONS = "hango.ablations.sweep"


class QueueName(StrEnum):
    """Queues by what their jobs wait for, so that a flood of one kind delays no other."""

    CALLS = "calls"  # tries, and the word that starts the next of an ablation
    RUNS = "runs"
    UPKEEP = "upkeep"


QUEUE_OF = {
    Job.RECOUNT_MESSAGES: QueueName.UPKEEP,
    Job.SWEEP_COUNTS: QueueName.UPKEEP,
    Job.PURGE_IDEMPOTENCY: QueueName.UPKEEP,
    Job.PURGE_WEB_SESSIONS: QueueName.UPKEEP,
    Job.EXECUTE_RUN: QueueName.RUNS,
    Job.SWEEP_RUNS: QueueName.UPKEEP,
    Job.PURGE_RESERVATIONS: QueueName.UPKEEP,
    Job.EXECUTE_TRY: QueueName.CALLS,
    Job.SWEEP_TRIES: QueueName.UPKEEP,
    Job.PURGE_TRIES: QueueName.UPKEEP,
    Job.CHECK_ESTIMATES: QueueName.UPKEEP,
    Job.REPORT_MEASURES: QueueName.UPKEEP,
    Job.CARRY_ON_ABLATION: QueueName.CALLS,
    Job.SWEEP_ABLATIONS: QueueName.UPKEEP,
}

# Acknowledged when they begin. Their rows say what became of them, and a broker that hands out
# again what takes long would only start a second worker for nothing.
ACKNOWLEDGED_EARLY = frozenset({Job.EXECUTE_RUN, Job.EXECUTE_TRY})
