"""/v1/usage"""

from __future__ import annotations

from typing import Any

from flask import Response, request

from app.api import spreadsheets
from app.api.current import reading
from app.api.resource import Resource
from app.api.schemas.usage import EstimatesSchema, SpanQuery, UsageQuery, UsageSchema
from app.domain.usage_reports import GroupBy
from app.services import usage
from app.services.usage import Report

blueprint = Resource("usage", "What model calls used. A member sees its own, an admin all.")

FIGURES = (
    "calls", "input_tokens", "cache_read_tokens", "cache_write_tokens", "whole_input_tokens",
    "output_tokens", "cost_micro_dollars", "unpriced_calls",
)  # fmt: skip


@blueprint.get("/usage")
@blueprint.asks(UsageQuery)
@blueprint.gives(200, UsageSchema)
@blueprint.gives_text(200, "text/csv")
def get_usage(query: dict[str, Any]) -> Report | Response:
    """Sum up tokens, cost and calls: as JSON, or as CSV by `Accept: text/csv` or `format=csv`."""
    with reading() as tx:
        found = usage.report(tx, GroupBy(query["group_by"]), query["since"], query["until"])
    return _csv(found) if _wants_csv(query["format"]) else found


@blueprint.get("/usage/estimates")
@blueprint.asks(SpanQuery)
@blueprint.gives(200, EstimatesSchema)
def get_usage_estimates(query: dict[str, Any]) -> dict[str, Any]:
    """Compare what was billed with what hango had estimated, by model."""
    with reading() as tx:
        return {"items": usage.estimates(tx, query["since"], query["until"])}


def _wants_csv(form: str | None) -> bool:
    if form is not None:
        return form == "csv"
    offered = ("application/json", "text/csv")
    return request.accept_mimetypes.best_match(offered, default=offered[0]) == "text/csv"


def _csv(report: Report) -> Response:
    names = ("name",) if report.group_by is GroupBy.AGENT else ()
    rows = [[each.key, *(getattr(each, at) for at in (*names, *FIGURES))] for each in report.items]
    head = [report.group_by.value, *names, *FIGURES]
    return spreadsheets.answer(head, rows, f"usage-by-{report.group_by}.csv")
