"""Quotas, as JSON."""

from __future__ import annotations

from marshmallow import fields, validate

from app.api.schemas.fields import Strict, WholeNumber
from app.domain.quota import Period

MAX_LIMIT = 10**15

_PERIODS = validate.OneOf([period.value for period in Period])


class QuotaSchema(Strict):
    """What the tenant may use from now on."""

    period = fields.String(
        load_default=Period.MONTH.value,
        validate=_PERIODS,
        metadata={"description": "A day, or a month; both begin at midnight UTC."},
    )
    tokens = WholeNumber(
        required=True,
        allow_none=True,
        validate=validate.Range(0, MAX_LIMIT),
        metadata={"description": "Whole input and output together; null: unlimited."},
    )
    micro_dollars = WholeNumber(
        required=True,
        allow_none=True,
        validate=validate.Range(0, MAX_LIMIT),
        metadata={"description": "Millionths of a US dollar; null: unlimited."},
    )


class LimitsSchema(Strict):
    """Both measures; null: unlimited."""

    tokens = fields.Integer(allow_none=True)
    micro_dollars = fields.Integer(allow_none=True)


class AmountSchema(Strict):
    """Both measures."""

    tokens = fields.Integer()
    micro_dollars = fields.Integer()


class StandingSchema(Strict):
    """What the tenant may use, and what is left of it."""

    period = fields.String()
    limits = fields.Nested(LimitsSchema)
    used = fields.Nested(AmountSchema, metadata={"description": "In this period."})
    reserved = fields.Nested(AmountSchema, metadata={"description": "By calls that are running."})
    left = fields.Nested(LimitsSchema)
    resets_at = fields.String(metadata={"description": "When the next period begins."})
