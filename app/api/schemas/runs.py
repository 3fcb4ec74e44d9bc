"""Runs and their model calls as JSON."""

from __future__ import annotations

from marshmallow import fields, validate

from app.api.schemas.fields import Digits, Json, Strict, WholeNumber

MOST_TURNS = 1000
LONGEST_WAIT = 60  # seconds


class RunCreateSchema(Strict):
    """What a run answers: a text, or a list of content blocks of the Messages API."""

    message = Json(
        required=True,
        metadata={"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "object"}}]},
    )
    max_turns = WholeNumber(
        load_default=None,
        validate=validate.Range(1, MOST_TURNS),
        metadata={"description": "Most model calls. Default: HANGO_MAX_TURNS."},
    )


class RunQuery(Strict):
    """How long to wait for the run to end."""

    wait = Digits(
        load_default=None,
        metadata={"description": f"Seconds; {LONGEST_WAIT} at most. The same as `Prefer: wait=`."},
    )


class RunUsageSchema(Strict):
    """The sums over the calls of a run."""

    calls = fields.Integer()
    input_tokens = fields.Integer()
    output_tokens = fields.Integer()
    cache_read_tokens = fields.Integer()
    cache_write_tokens = fields.Integer()
    cost_micro_dollars = fields.Integer()
    unpriced_calls = fields.Integer(
        metadata={"description": "Calls of no known price; the cost is without them."}
    )


class RunErrorSchema(Strict):
    """Why a run failed."""

    code = fields.String()
    detail = fields.String(allow_none=True)
    retryable = fields.Boolean(allow_none=True)


class RunSchema(Strict):
    """A run as clients read it."""

    id = fields.UUID(attribute="run.id")
    session_id = fields.UUID(attribute="run.session_id")
    agent_id = fields.UUID(attribute="run.agent_id")
    parent_run_id = fields.UUID(
        attribute="run.parent_run_id",
        allow_none=True,
        metadata={"description": "Of a helper's run: the run whose `task` call it answers."},
    )
    parent_tool_use_id = fields.String(attribute="run.parent_tool_use_id", allow_none=True)
    status = fields.String(attribute="run.status")
    stop_reason = fields.String(attribute="run.stop_reason", allow_none=True)
    turns = fields.Integer(attribute="run.turns")
    max_turns = fields.Integer(attribute="run.max_turns", allow_none=True)
    messages = fields.List(fields.Integer(), attribute="run.seqs")
    usage = fields.Nested(
        RunUsageSchema, attribute="used.own", metadata={"description": "Of the run's own calls."}
    )
    usage_with_helpers = fields.Nested(
        RunUsageSchema,
        attribute="used.with_helpers",
        metadata={"description": "And of the runs that its `task` calls began, and of theirs."},
    )
    error = fields.Nested(RunErrorSchema, allow_none=True)
    created_at = fields.String(attribute="run.created_at")
    started_at = fields.String(attribute="run.started_at", allow_none=True)
    finished_at = fields.String(attribute="run.finished_at", allow_none=True)
    cancel_requested_at = fields.String(attribute="run.cancel_requested_at", allow_none=True)
    deadline_at = fields.String(attribute="run.deadline_at", allow_none=True)


class RunPageSchema(Strict):
    """A page of runs, newest first."""

    items = fields.List(fields.Nested(RunSchema))
    next = fields.String(allow_none=True)


class CallSchema(Strict):
    """A model call that was made, and what it cost."""

    call = fields.Integer()
    purpose = fields.String()
    provider = fields.String()
    model = fields.String()
    outcome = fields.String()
    input_tokens = fields.Integer(allow_none=True)
    output_tokens = fields.Integer(allow_none=True)
    cache_read_tokens = fields.Integer(allow_none=True)
    cache_write_tokens = fields.Integer(allow_none=True)
    estimated_tokens = fields.Integer(allow_none=True)
    estimator = fields.String(allow_none=True)
    cost_micro_dollars = fields.Integer(allow_none=True)
    price_version = fields.String(allow_none=True)
    latency_ms = fields.Integer(allow_none=True)
    request_sha256 = fields.String(allow_none=True)
    provider_request_id = fields.String(allow_none=True)
    thinking_left_out = fields.Integer(
        allow_none=True,
        metadata={
            "description": "Blocks of thinking that the provider left out: they did not fit what "
            "stood before them."
        },
    )
    created_at = fields.String()


class CallItemsSchema(Strict):
    """The calls of a run, in their order."""

    items = fields.List(fields.Nested(CallSchema))


class SentPartSchema(Strict):
    """A part of a call: what identifies it, never what it says."""

    id = fields.String()
    kind = fields.String()
    sha256 = fields.String()
    tokens = fields.Integer()
    included = fields.Boolean()
    override = fields.String()
    unavailable = fields.String(
        allow_none=True,
        metadata={"description": "Of an injection that failed: the code of why."},
    )


class CallPartsSchema(CallSchema):
    """A call with the parts that it was made of."""

    parts = fields.List(fields.Nested(SentPartSchema))


class ChangedPartSchema(Strict):
    """A part that both calls list, differently."""

    before = fields.Nested(SentPartSchema)
    after = fields.Nested(SentPartSchema)


class CallDiffSchema(Strict):
    """What the later call sent differently."""

    before_sha256 = fields.String(allow_none=True)
    after_sha256 = fields.String(allow_none=True)
    added = fields.List(fields.Nested(SentPartSchema))
    removed = fields.List(fields.Nested(SentPartSchema))
    changed = fields.List(fields.Nested(ChangedPartSchema))
    unchanged = fields.Integer()
