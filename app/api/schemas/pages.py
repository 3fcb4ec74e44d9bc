"""The query of every list."""

from __future__ import annotations

from marshmallow import fields, validate

from app.api.schemas.fields import Digits, Strict

DEFAULT_LIMIT, MAX_LIMIT = 50, 200


class PageQuery(Strict):
    """The parameters of every list. Subclasses add filters."""

    limit = Digits(
        load_default=DEFAULT_LIMIT,
        validate=validate.Range(1, MAX_LIMIT),
        metadata={"description": "How many items at most."},
    )
    after = fields.String(
        load_default=None,
        validate=validate.Length(1, 1024),
        metadata={"description": "The `next` of the page before."},
    )
