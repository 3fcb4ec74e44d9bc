"""Usage: what model calls used and cost, and how well their size was estimated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from app.domain.usage_reports import EstimateRow, Figures, GroupBy, UsageRow, total
from app.runtime import Runtime
from app.store.transaction import Transaction

log = structlog.get_logger(__name__)

BAND = 0.1  # how far off the sum of a day's estimates may be, as a share of what was billed
FEWEST_CALLS = 20  # of which that can be said
A_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Report:
    """Sums over calls, row by row and of all."""

    group_by: GroupBy
    items: Sequence[UsageRow]
    total: Figures


def report(
    tx: Transaction, group_by: GroupBy, since: datetime | None, until: datetime | None
) -> Report:
    """Sum up the principal's calls from `since` on and before `until`; an admin's are all."""
    rows = tx.usage_reports.rows(group_by, since, until)
    return Report(group_by, rows, total(rows))


def estimates(
    tx: Transaction, since: datetime | None, until: datetime | None
) -> Sequence[EstimateRow]:
    """Billed against estimated input, by model and estimator."""
    return tx.usage_reports.estimates(since, until)


def check_estimates(runtime: Runtime) -> None:
    """Log each model whose estimates were too far off in the last day, once a day."""
    with runtime.database.system() as system:
        rows = system.usage_reports.estimates(runtime.now() - A_DAY)
    for row in rows:
        if row.calls >= FEWEST_CALLS and abs(row.error) > BAND and _is_news(runtime, row):
            log.warning(
                "estimate_left_band",
                model=row.model,
                estimator=row.estimator,
                calls=row.calls,
                error=round(row.error, 3),
                band=BAND,
            )


def _is_news(runtime: Runtime, row: EstimateRow) -> bool:
    """Whether it was not said for a day, by any process."""
    key = f"hango:told:estimate:{row.estimator}:{row.model}"
    return bool(runtime.redis.set(key, 1, ex=A_DAY, nx=True))
