"""Usage: what model calls used and cost, and how well their size was estimated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.domain.usage_reports import EstimateRow, Figures, GroupBy, UsageRow, total
from app.store.transaction import Transaction


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
