"""Sets of context overrides as JSON."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from marshmallow import (
    ValidationError,
    fields,
    post_dump,
    post_load,
    pre_load,
    validate,
    validates_schema,
)

from app.api.schemas.fields import Line, Strict, Text, WholeNumber
from app.domain.parts import MAX_PART_ID_CHARACTERS
from app.services.overrides import Wish

MAX_OVERRIDES = 10_000
MAX_REASON_CHARACTERS = 500


# What an answer adds; a set that comes back with them is taken as if they were not there.
_ANSWER_FIELDS = ("version", "added", "thinking_dropped", "alternatives")
_SIGNATURE_FIELDS = ("created_by", "created_at")


class PartText(fields.String):
    """A part id as it was sent: never cleaned, so that no bad one turns into a good one."""


class OverrideSchema(Strict):
    """One override."""

    part = PartText(required=True, validate=validate.Length(max=MAX_PART_ID_CHARACTERS))
    action = fields.String(required=True, validate=validate.OneOf(("exclude", "replace")))
    replacement = Text()
    reason = Line(longest=MAX_REASON_CHARACTERS, allow_none=True)
    base = fields.String(
        load_only=True,
        validate=validate.OneOf(("current",)),
        metadata={
            "description": "`current`: the replacement is right for the part as it is now. Ends "
            "`base_changed` without another text."
        },
    )
    created_by = fields.UUID(dump_only=True)
    created_at = fields.String(dump_only=True)

    @pre_load
    def _without_signature(self, data: Any, **_: Any) -> Any:
        return _without(data, _SIGNATURE_FIELDS)

    @post_dump
    def _without_nothing(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        return {name: value for name, value in data.items() if value is not None}

    @validates_schema
    def _replacement_goes_with_replace(self, data: dict[str, Any], **_: Any) -> None:
        if data.get("action") == "replace" and "replacement" not in data:
            raise ValidationError("Say what to put in its place.", "replacement")
        for name in ("replacement", "base") if data.get("action") == "exclude" else ():
            if name in data:
                raise ValidationError("What is left out has no replacement.", name)

    @post_load
    def _as_wish(self, data: dict[str, Any], **_: Any) -> Wish:
        return Wish(renewed=data.pop("base", None) == "current", **data)


class OverrideSetSchema(Strict):
    """A target's whole set; an empty list clears it."""

    overrides = fields.List(
        fields.Nested(OverrideSchema), required=True, validate=validate.Length(max=MAX_OVERRIDES)
    )
    reason = Line(longest=MAX_REASON_CHARACTERS, allow_none=True, load_default=None)

    @pre_load
    def _without_answer(self, data: Any, **_: Any) -> Any:
        return _without(data, _ANSWER_FIELDS)


def _without(data: Any, names: Container[str]) -> Any:
    if not isinstance(data, Mapping):
        return data
    return {name: value for name, value in data.items() if name not in names}


class PartnerSchema(Strict):
    """A part that had to go along."""

    part = fields.String()
    goes_with = fields.String()
    call = fields.String(metadata={"description": "The tool_use id that connects the two."})
    replacement_lost = fields.Boolean(
        metadata={"description": "The set had a replacement for it, which is given up."}
    )


class AlternativeSchema(Strict):
    """A change that costs less: the call stays, and its result gets short."""

    part = fields.String()
    action = fields.String()
    replacement = fields.String()


class StoredSetSchema(Strict):
    """A stored set, and what storing it brought along. PUT takes what GET gave."""

    version = fields.Integer()
    overrides = fields.List(fields.Nested(OverrideSchema))
    added = fields.List(fields.Nested(PartnerSchema))
    thinking_dropped = fields.List(
        fields.String(),
        allow_none=True,
        metadata={"description": "null: not known without naming a session."},
    )
    alternatives = fields.List(fields.Nested(AlternativeSchema))


class PriceSchema(Strict):
    """What an edit costs once and saves on each call, in tokens; null: not known."""

    saved_per_call = fields.Integer(allow_none=True)
    prefix_rebilled = fields.Integer(allow_none=True)
    pays_after_calls = fields.Integer(allow_none=True)
    prefix_lost = fields.Boolean(
        allow_none=True,
        metadata={"description": "The prefix becomes too short for the provider to keep."},
    )


class PreviewSchema(StoredSetSchema):
    """What PUT would answer, and what the edit would cost."""

    price = fields.Nested(PriceSchema)


class PastSetSchema(Strict):
    """One of the last sets of a target."""

    version = fields.Integer()
    overrides = fields.List(fields.Nested(OverrideSchema))
    reason = fields.String(allow_none=True)
    created_by = fields.UUID()
    created_at = fields.String()


class HistorySchema(Strict):
    """The last sets, newest first; the first one is in force."""

    items = fields.List(fields.Nested(PastSetSchema))


class RestoreSchema(Strict):
    """Which of the last sets to bring back."""

    version = WholeNumber(required=True, validate=validate.Range(1))


class PreviewQuery(Strict):
    """For an agent's set: the session on which to measure it."""

    session = fields.UUID(load_default=None)
