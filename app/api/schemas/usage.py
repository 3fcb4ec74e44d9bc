"""Usage, as JSON and as the query that asks for it."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

from marshmallow import ValidationError, fields, validate, validates_schema

from app.api.schemas.fields import Strict
from app.domain.usage_reports import GroupBy

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


class Moment(fields.Field[datetime]):
    """A moment in a query: RFC 3339, or a day (UTC), of which it is the beginning or the end."""

    def __init__(self, *, end_of_day: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._days = int(end_of_day)

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> datetime:
        try:
            if _DAY.fullmatch(value):
                day = date.fromisoformat(value) + timedelta(days=self._days)
                return datetime(day.year, day.month, day.day, tzinfo=UTC)
            moment = datetime.fromisoformat(value).astimezone(UTC)
        except (ValueError, OverflowError):
            raise ValidationError("Give a day, 2026-11-30, or a moment in RFC 3339.") from None
        if datetime.fromisoformat(value).tzinfo is None:
            raise ValidationError("Give the moment's offset, such as Z.")
        return moment


class SpanQuery(Strict):
    """Which calls."""

    since = Moment(
        data_key="from",
        load_default=None,
        metadata={"type": "string", "description": "From this day or moment on. Default: all."},
    )
    until = Moment(
        end_of_day=True,
        data_key="to",
        load_default=None,
        metadata={"type": "string", "description": "To this day's end, or before this moment."},
    )

    @validates_schema
    def _ordered(self, data: dict[str, Any], **_: Any) -> None:
        if data["since"] and data["until"] and data["since"] >= data["until"]:
            raise ValidationError("Give a later moment than `from`.", "to")


class UsageQuery(SpanQuery):
    """Which calls, summed how, and in which form."""

    group_by = fields.String(
        load_default=GroupBy.MODEL.value,
        validate=validate.OneOf([each.value for each in GroupBy]),
        metadata={"description": "What the calls of one row have in common."},
    )
    format = fields.String(
        load_default=None,
        validate=validate.OneOf(["json", "csv"]),
        metadata={"description": "Default: what `Accept` asks for."},
    )


class FiguresSchema(Strict):
    """Sums over calls."""

    calls = fields.Integer()
    input_tokens = fields.Integer(metadata={"description": "Without what a cache had or took."})
    cache_read_tokens = fields.Integer()
    cache_write_tokens = fields.Integer()
    output_tokens = fields.Integer()
    whole_input_tokens = fields.Integer(metadata={"description": "The three of input together."})
    cost_micro_dollars = fields.Integer()
    unpriced_calls = fields.Integer(
        metadata={"description": "Calls whose price is not known: they are not in the cost."}
    )


class UsageRowSchema(FiguresSchema):
    """The calls of one purpose, agent, model or day."""

    key = fields.String(
        allow_none=True, metadata={"description": "The agent's id, the day …; null: it is gone."}
    )
    name = fields.String(allow_none=True, metadata={"description": "The agent's."})


class UsageSchema(Strict):
    """What was used."""

    group_by = fields.String()
    items = fields.List(fields.Nested(UsageRowSchema))
    total = fields.Nested(FiguresSchema)


class EstimateSchema(Strict):
    """Billed against estimated input, of one model."""

    model = fields.String()
    estimator = fields.String()
    calls = fields.Integer()
    billed_tokens = fields.Integer(metadata={"description": "The whole input."})
    estimated_tokens = fields.Integer()
    error = fields.Float(metadata={"description": "Of the sums; above 0: too much estimated."})
    mean_error = fields.Float(metadata={"description": "Of one call, whichever way."})
    largest_error = fields.Float()


class EstimatesSchema(Strict):
    """How well hango counted before it called."""

    items = fields.List(fields.Nested(EstimateSchema))
