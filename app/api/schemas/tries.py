"""Tries as JSON."""

from __future__ import annotations

from typing import Any, NoReturn
from uuid import UUID

from marshmallow import fields, post_load, validate

from app.api.schemas.fields import JsonText, Strict, Text
from app.api.schemas.overrides import MAX_OVERRIDES, PartnerSchema, PartText
from app.api.schemas.runs import RunQuery
from app.domain.parts import MAX_PART_ID_CHARACTERS
from app.services.try_diffs import REQUEST
from app.services.try_plans import Wanted

_PART = validate.Length(max=MAX_PART_ID_CHARACTERS)


class Baseline(fields.Field[Any]):
    """What a try is compared with: another try of the session, or `request`, the plain call."""

    default_error_messages = {"invalid": "Give the id of a try, or `request`."}  # noqa: RUF012

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> Any:
        if value == REQUEST:
            return REQUEST
        try:
            return UUID(value) if isinstance(value, str) else self._refuse()
        except ValueError:
            return self._refuse()

    def _serialize(self, value: Any, *_args: Any, **_kwargs: Any) -> Any:
        return str(value)

    def _refuse(self) -> NoReturn:
        raise self.make_error("invalid")


class TryCreateSchema(Strict):
    """What to change in the session's next request, for this once. `{}`: nothing."""

    parts = fields.List(
        PartText(validate=_PART),
        data_key="exclude",
        attribute="exclude",
        load_default=(),
        validate=validate.Length(max=MAX_OVERRIDES),
    )
    replace = fields.Dict(
        keys=PartText(validate=_PART),
        values=Text(),
        load_default=dict,
        validate=validate.Length(max=MAX_OVERRIDES),
        metadata={"description": "By part, the text that stands in for it."},
    )
    message = Text(
        metadata={"description": "A user's message behind the history. Not stored in the session."}
    )

    baseline = Baseline(
        load_default=REQUEST,
        metadata={
            "type": "string",
            "description": "What it is compared with: the id of another try of the session, or "
            "`request`, its next call with the saved overrides alone.",
        },
    )

    @post_load
    def _as_wanted(self, data: dict[str, Any], **_: Any) -> Wanted:
        baseline = data.pop("baseline")
        return Wanted(**data, baseline=None if baseline == REQUEST else baseline)


class TryQuery(RunQuery):
    """How long to wait for the try to end."""


class AnswerSchema(Strict):
    """The assistant's message, as the model gave it. Its tool calls are not carried out."""

    role = fields.String()
    content = JsonText(metadata={"type": "array", "items": {"type": "object"}})


class TryUsageSchema(Strict):
    """What the call used. Cached tokens are not in `input_tokens`."""

    input_tokens = fields.Integer()
    output_tokens = fields.Integer()
    cache_read_tokens = fields.Integer()
    cache_write_tokens = fields.Integer()


class CostSchema(Strict):
    """What that costs, by a public price list."""

    micro_dollars = fields.Integer(attribute="cost_micro_dollars")
    price_version = fields.String()


class TotalsSchema(Strict):
    """The whole request, in tokens: see the session's context."""

    before = fields.Integer()
    after = fields.Integer()
    framing = fields.Integer()
    counted = fields.String()
    estimator = fields.String()
    window = fields.Integer()
    reserved_output = fields.Integer()
    remaining = fields.Integer()
    available = fields.Integer()
    trigger = fields.Integer()
    rough = fields.Boolean()
    provider_tokens = fields.Integer(allow_none=True)


class TrySnapshotSchema(Strict):
    """The request that is sent, in short."""

    totals = fields.Nested(TotalsSchema)
    model = fields.String()
    request_sha256 = fields.String()


class TryErrorSchema(Strict):
    """Why there is no answer."""

    code = fields.String()
    message = fields.String(allow_none=True)
    retryable = fields.Boolean(allow_none=True)


class TrySchema(Strict):
    """A try as clients read it."""

    id = fields.UUID(attribute="trial.id")
    session_id = fields.UUID(attribute="trial.session_id")
    status = fields.String(attribute="trial.status")
    created_at = fields.String(attribute="trial.created_at")
    started_at = fields.String(attribute="trial.started_at", allow_none=True)
    finished_at = fields.String(attribute="trial.finished_at", allow_none=True)
    excluded = fields.List(
        fields.String(),
        attribute="trial.excluded",
        metadata={"description": "Every part left out, by saved overrides and as partners too."},
    )
    added = fields.List(fields.Nested(PartnerSchema), attribute="trial.added")
    replaced = fields.List(fields.String())
    baseline = Baseline(
        metadata={"type": "string", "description": "The id of a try, or `request`: see the diff."}
    )
    ablation_id = fields.UUID(attribute="trial.ablation_id", allow_none=True)
    answer = fields.Nested(AnswerSchema, allow_none=True)
    stop_reason = fields.String(attribute="trial.stop_reason", allow_none=True)
    usage = fields.Nested(TryUsageSchema, allow_none=True)
    cost = fields.Nested(CostSchema, allow_none=True)
    snapshot = fields.Nested(TrySnapshotSchema, attribute="trial.snapshot", allow_none=True)
    error = fields.Nested(TryErrorSchema, allow_none=True)


class TryPageSchema(Strict):
    """A page of tries, newest first."""

    items = fields.List(fields.Nested(TrySchema))
    next = fields.String(allow_none=True)
