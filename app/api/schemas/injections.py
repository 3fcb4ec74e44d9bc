"""An agent's injections as JSON."""

from __future__ import annotations

from typing import Any

import msgspec
from marshmallow import ValidationError, fields, post_dump, validate, validates_schema

from app.api.schemas.fields import Strict, Text, WholeNumber
from app.api.schemas.outside import ABOUT_HEADERS, Headers
from app.domain.injections import Hook, Retrieval
from app.errors import AddressRefused
from app.tools.addresses import target_of

MAX_INJECTIONS = 16
LONGEST_TIMEOUT = 30  # seconds
OF_TYPE = {
    "retrieval": {"over", "passages"},
    "http": {"before_url", "after_url", "headers", "timeout_seconds"},
}


def _url(value: str) -> None:
    """Whether it is one at all. Where it may lead is asked at each call."""
    try:
        target_of(value)
    except AddressRefused as refused:
        raise ValidationError(refused.detail or refused.title) from None


class InjectionSchema(Strict):
    """What is gathered anew before each model call: passages of files, or a hook's answer."""

    type = fields.String(required=True, validate=validate.OneOf(tuple(OF_TYPE)))
    name = Text(
        required=True,
        validate=validate.Regexp(r"\A[a-z][a-z0-9_-]{0,63}\Z", error="Like `house-rules`."),
        metadata={"description": "The part is `system:injection:<name>`."},
    )
    tokens = WholeNumber(
        validate=validate.Range(1, 100_000),
        metadata={"description": "At most. Default: 1000 of passages, 2000 of a hook's answer."},
    )
    over = fields.List(
        fields.String(validate=validate.OneOf(("memory", "files"))),
        validate=validate.Length(1, 2),
        metadata={"description": "retrieval: where passages are looked for."},
    )
    passages = WholeNumber(
        validate=validate.Range(1, 50), metadata={"description": "retrieval: at most. Default: 5."}
    )
    before_url = Text(
        validate=_url, metadata={"description": "http: asked before each call, by POST."}
    )
    after_url = Text(
        validate=_url,
        allow_none=True,
        metadata={"description": "http: told afterwards how it ended. Default: `before_url`."},
    )
    headers = Headers(
        metadata={
            **ABOUT_HEADERS,
            "description": "http: sent with both, and never shown again: null stands in the place "
            "of each value. null keeps the stored value; what is not named is removed.",
        }
    )
    timeout_seconds = fields.Float(
        validate=validate.Range(0.1, LONGEST_TIMEOUT),
        metadata={"description": "http: how long an answer is waited for. Default: 5."},
    )

    @validates_schema
    def _fits_its_type(self, data: dict[str, Any], **_: Any) -> None:
        own = OF_TYPE.get(data.get("type", ""), set())
        for name in data.keys() - own - {"type", "name", "tokens"}:
            raise ValidationError("Not of an injection of this type.", name)
        needed = {"retrieval": "over", "http": "before_url"}.get(data.get("type", ""))
        if needed and needed not in data:
            raise ValidationError("Missing data for required field.", needed)

    @post_dump(pass_original=True)
    def _as_kept(self, _shown: dict[str, Any], kept: Retrieval | Hook, **_: Any) -> dict[str, Any]:
        shown: dict[str, Any] = msgspec.to_builtins(kept)
        names = shown.pop("header_names", ())
        return shown | ({"headers": dict.fromkeys(names)} if names else {})
