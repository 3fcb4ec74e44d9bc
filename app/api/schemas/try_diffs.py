"""Two tries compared, as JSON."""

from __future__ import annotations

from marshmallow import fields

from app.api.schemas.fields import Json, Strict
from app.api.schemas.tries import Baseline, CostSchema, TryUsageSchema


class TryDiffQuery(Strict):
    """What to compare with."""

    other = Baseline(
        data_key="with",
        load_default=None,
        metadata={
            "type": "string",
            "description": "The id of another try of the session, or `request`. Default: the "
            "baseline that the try named.",
        },
    )


class MissingSchema(Strict):
    """Why there is no answer: `not_called`, `not_ended`, `cancelled`, or how the try failed."""

    code = fields.String()
    message = fields.String()


class SideSchema(Strict):
    """One of the two. `try_id` is null for the plain request."""

    try_id = fields.UUID(attribute="trial.id", dump_default=None)
    status = fields.String(attribute="trial.status", dump_default=None)
    stop_reason = fields.String(attribute="trial.stop_reason", dump_default=None)
    usage = fields.Nested(TryUsageSchema, allow_none=True)
    cost = fields.Nested(CostSchema, allow_none=True)
    latency_ms = fields.Integer(attribute="call.latency_ms", dump_default=None)
    missing = fields.Nested(MissingSchema, allow_none=True)


class TokensSchema(Strict):
    """Tokens on both sides; 0 where it is not sent."""

    before = fields.Integer()
    after = fields.Integer()


class PartChangeSchema(Strict):
    """A part that the two requests do not have alike."""

    part = fields.String()
    kind = fields.String()
    change = fields.String(
        metadata={"enum": ["left_out", "brought_back", "replaced", "added", "gone", "changed"]}
    )
    tokens = fields.Nested(TokensSchema)
    before_sha256 = fields.String(allow_none=True)
    after_sha256 = fields.String(allow_none=True)


class ParameterChangeSchema(Strict):
    """A parameter that the two requests do not have alike; null: not given."""

    name = fields.String()
    before = Json(allow_none=True)
    after = Json(allow_none=True)


class RequestDiffSchema(Strict):
    """What was sent differently. `same`: not a byte of it."""

    same = fields.Boolean()
    before_sha256 = fields.String()
    after_sha256 = fields.String()
    before_model = fields.String()
    after_model = fields.String()
    tokens = fields.Nested(TokensSchema)
    parameters = fields.List(fields.Nested(ParameterChangeSchema))
    parts = fields.List(fields.Nested(PartChangeSchema))
    unchanged = fields.Integer(metadata={"description": "How many parts are the same."})


class HunkSchema(Strict):
    """A piece of both texts. All `before` put together are one text, all `after` the other."""

    op = fields.String(metadata={"enum": ["equal", "insert", "delete", "replace"]})
    before = fields.String()
    after = fields.String()


class ToolCallSchema(Strict):
    """A tool call that an answer asks for."""

    name = fields.String()
    input = Json()


class ToolCallsDiffSchema(Strict):
    """Tool calls by name and input: how many both have, and those that one of them has alone."""

    same = fields.Integer()
    before = fields.List(fields.Nested(ToolCallSchema))
    after = fields.List(fields.Nested(ToolCallSchema))


class AnswerDiffSchema(Strict):
    """What was answered differently. Thinking is not compared: it differs each time."""

    change = fields.String(
        metadata={
            "enum": ["same", "text", "tool_calls"],
            "description": "`tool_calls` also where the text differs as well.",
        }
    )
    similarity = fields.Float(
        metadata={
            "description": "0 to 1: the share of words that both texts have in their order; 1 only "
            "for texts that are the same. An answer also changes by chance."
        }
    )
    text = fields.List(fields.Nested(HunkSchema))
    tool_calls = fields.Nested(ToolCallsDiffSchema)


class TryDiffSchema(Strict):
    """A try (`after`) against its baseline (`before`)."""

    before = fields.Nested(SideSchema)
    after = fields.Nested(SideSchema)
    request = fields.Nested(
        RequestDiffSchema,
        allow_none=True,
        metadata={"description": "null: one of the two has not called the model."},
    )
    answer = fields.Nested(
        AnswerDiffSchema,
        allow_none=True,
        metadata={"description": "null: one of the two has no answer; `missing` says why."},
    )
