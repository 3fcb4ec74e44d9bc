"""Ablations as JSON."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, post_load, validate

from app.api.schemas.fields import Strict, Text, WholeNumber
from app.api.schemas.overrides import MAX_OVERRIDES, PartnerSchema, PartText
from app.api.schemas.runs import RunQuery
from app.api.schemas.tries import CostSchema
from app.domain.ablation import MOST_BASELINES, MOST_PARTS
from app.domain.parts import MAX_PART_ID_CHARACTERS
from app.services.ablation_plans import WantedAblation

_PART = validate.Length(max=MAX_PART_ID_CHARACTERS)
_CONFIRM = (
    "Ask what it costs (POST …/context/ablations/preview), and confirm it here in micro_dollars; "
    "null is no limit."
)
_CHANGES = ["same", "text", "tool_calls"]


class AblationWishSchema(Strict):
    """The parts to leave out in turn, and what all tries have in common."""

    parts = fields.List(
        PartText(validate=_PART),
        required=True,
        validate=validate.Length(1, MOST_PARTS),
        metadata={"description": "Each is left out of one try. Partners leave along with it."},
    )
    left_out = fields.List(
        PartText(validate=_PART),
        data_key="exclude",
        attribute="exclude",
        load_default=(),
        validate=validate.Length(max=MAX_OVERRIDES),
        metadata={"description": "Left out of every try, of the baselines too."},
    )
    replace = fields.Dict(
        keys=PartText(validate=_PART),
        values=Text(),
        load_default=dict,
        validate=validate.Length(max=MAX_OVERRIDES),
        metadata={"description": "By part, the text that stands in for it in every try."},
    )
    message = Text(
        metadata={"description": "A user's message behind the history in every try. Not stored."}
    )
    baselines = WholeNumber(
        load_default=2,
        validate=validate.Range(1, MOST_BASELINES),
        metadata={
            "description": "How often the call with everything is made. An answer changes by "
            "chance, too: from 2 on the result says how much."
        },
    )

    @post_load
    def _as_wanted(self, data: dict[str, Any], **_: Any) -> Any:
        return WantedAblation(**data)


class MoneySchema(Strict):
    """An amount of money."""

    micro_dollars = WholeNumber(required=True, validate=validate.Range(0, 2**53 - 1))


class AblationCreateSchema(AblationWishSchema):
    """The same, with the cost confirmed."""

    max_cost = fields.Nested(
        MoneySchema,
        required=True,
        allow_none=True,
        error_messages={"required": _CONFIRM},
        metadata={
            "description": "At least what the preview says is `needed`. No call is started that "
            "could pass it, by hango's own count of its input."
        },
    )

    @post_load
    def _as_wanted(self, data: dict[str, Any], **_: Any) -> Any:
        money = data.pop("max_cost")
        return WantedAblation(**data), money and money["micro_dollars"]


class AblationQuery(RunQuery):
    """How long to wait for the ablation to end."""


class ReasonSchema(Strict):
    """Why something was not done."""

    code = fields.String()
    message = fields.String()


class AblationEstimateSchema(Strict):
    """What the tries cost together. null: no price is known for the model."""

    tries = fields.Integer()
    likely = fields.Nested(
        MoneySchema,
        allow_none=True,
        metadata={
            "description": "Each input at its full price, and answers as long as the session's "
            "usually are."
        },
    )
    most = fields.Nested(
        MoneySchema,
        allow_none=True,
        metadata={"description": "Nothing cached, and every answer as long as `max_tokens` lets."},
    )
    needed = fields.Nested(
        MoneySchema,
        allow_none=True,
        metadata={"description": "The least that `max_cost` can be."},
    )


class AblationTokensSchema(Strict):
    """The whole request: with everything, and without the part."""

    before = fields.Integer()
    after = fields.Integer(allow_none=True)


class AblationRowSchema(Strict):
    """One row of the table."""

    part = fields.String(
        allow_none=True, metadata={"description": "null: the call with everything."}
    )
    state = fields.String(
        metadata={
            "enum": [
                "refused", "no_effect", "waiting", "skipped",
                "queued", "running", "succeeded", "failed", "timed_out", "cancelled",
            ],
            "description": "`refused`: it cannot be left out. `no_effect`: the request is the same "
            "without it. `skipped`: not started, see `error` of the whole.",
        }
    )  # fmt: skip
    tokens = fields.Nested(AblationTokensSchema)
    added = fields.List(fields.Nested(PartnerSchema))
    same_as = fields.String(
        allow_none=True,
        metadata={"description": "The part whose try this is as well: paid for once."},
    )
    try_id = fields.UUID(allow_none=True)
    change = fields.String(allow_none=True, metadata={"enum": [*_CHANGES, None]})
    similarity = fields.Float(
        allow_none=True, metadata={"description": "To the most similar baseline, 0 to 1."}
    )
    beyond_noise = fields.Boolean(
        allow_none=True,
        metadata={
            "description": "Whether it differs more than the baselines differ from each other; "
            "null: not known."
        },
    )
    cost = fields.Nested(CostSchema, allow_none=True)
    latency_ms = fields.Integer(allow_none=True)
    error = fields.Nested(ReasonSchema, allow_none=True)


class AblationNoiseSchema(Strict):
    """How much the answers to the very same request differ: the worst pair of baselines."""

    change = fields.String(metadata={"enum": _CHANGES})
    similarity = fields.Float()


class AblationPlanSchema(Strict):
    """What would be tried, and what that costs. Nothing was started."""

    session_id = fields.UUID()
    model = fields.String()
    estimate = fields.Nested(AblationEstimateSchema)
    baselines = fields.List(fields.Nested(AblationRowSchema))
    parts = fields.List(fields.Nested(AblationRowSchema))


class AblationProgressSchema(Strict):
    """How many tries have ended, or will not be made, of those that there are."""

    done = fields.Integer()
    total = fields.Integer()


class AblationSchema(Strict):
    """An ablation as clients read it."""

    id = fields.UUID()
    session_id = fields.UUID()
    status = fields.String(metadata={"enum": ["running", "succeeded", "failed", "cancelled"]})
    model = fields.String()
    created_at = fields.String()
    finished_at = fields.String(allow_none=True)
    cancel_requested_at = fields.String(allow_none=True)
    max_cost = fields.Nested(MoneySchema, allow_none=True)
    estimate = fields.Nested(AblationEstimateSchema)
    cost = fields.Nested(
        MoneySchema, metadata={"description": "Of the calls so far, as far as it is known."}
    )
    progress = fields.Nested(AblationProgressSchema)
    baselines = fields.List(fields.Nested(AblationRowSchema))
    parts = fields.List(fields.Nested(AblationRowSchema))
    noise = fields.Nested(AblationNoiseSchema, allow_none=True)
    error = fields.Nested(
        ReasonSchema,
        allow_none=True,
        metadata={
            "description": "Why not all tries were made: `max_cost_reached`, `quota_exceeded`, "
            "`no_baseline`."
        },
    )


class AblationPageSchema(Strict):
    """A page of ablations, newest first."""

    items = fields.List(fields.Nested(AblationSchema))
    next = fields.String(allow_none=True)
