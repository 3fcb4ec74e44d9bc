"""Problems (RFC 9457) as the OpenAPI document shows them."""

from __future__ import annotations

from marshmallow import fields

from app.api.schemas.fields import Strict
from app.api.schemas.quota import LimitsSchema


class FaultSchema(Strict):
    """One thing wrong."""

    at = fields.String(metadata={"description": "Where: messages[3].content[0], limit, path."})
    code = fields.String()
    detail = fields.String(metadata={"description": "What to do."})


class ProblemSchema(Strict):
    """What went wrong."""

    type = fields.String()
    title = fields.String()
    status = fields.Integer()
    code = fields.String(metadata={"description": "Stable: /docs/errors lists them all."})
    detail = fields.String()
    request_id = fields.String()
    errors = fields.List(fields.Nested(FaultSchema))
    left = fields.Nested(LimitsSchema, metadata={"description": "Of the quota; with 402."})
    resets_at = fields.String(
        metadata={"description": "When the quota's next period begins; with 402."}
    )
