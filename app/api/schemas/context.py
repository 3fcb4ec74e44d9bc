"""The query of inspect. Its answer is made by msgspec (app/domain/snapshots.py), for its size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from marshmallow import fields, validate

from app.api.schemas.fields import Digits, Strict
from app.domain.parts import MAX_SEQ
from app.domain.snapshots import PartContent, Snapshot

_PREFIX = "Context"  # other resources have Totals, too
_REFERENCE = f"#/components/schemas/{_PREFIX}{{name}}"


class OneOrZero(fields.Boolean):
    """A switch in a query: `1` or `0`."""

    def _deserialize(self, value: object, *_args: object, **_kwargs: object) -> bool:
        if value not in ("1", "0", "true", "false"):
            raise self.make_error("invalid", input="")
        return value in ("1", "true")


class ContextQuery(Strict):
    """What to show of the next call."""

    full = fields.String(
        load_default=None,
        metadata={"description": "A part id: answers with that part's whole content instead."},
    )
    media = OneOrZero(
        load_default=False,
        metadata={"description": "1: with `full`, keep the base64 data of images and documents."},
    )
    view = fields.String(
        load_default="after",
        validate=validate.OneOf(("before", "after")),
        metadata={"description": "With `full`: the content before or after overrides."},
    )
    injections = OneOrZero(
        load_default=False,
        metadata={"description": "1: gather dynamic injections, which may be seen outside."},
    )
    count = fields.String(
        load_default="estimate",
        validate=validate.OneOf(("estimate", "provider")),
        metadata={
            "description": "`provider`: ask the provider for its count of the whole request, too, "
            "for 2 s at most. It is sent the request; it does not answer it."
        },
    )
    messages_limit = Digits(
        load_default=None,
        validate=validate.Range(1, 10_000),
        metadata={"description": "Only the newest so many parts of the messages."},
    )
    messages_before = Digits(
        load_default=None,
        validate=validate.Range(1, MAX_SEQ),
        metadata={"description": "Only messages before this seq."},
    )


def answer() -> dict[str, Any]:
    """The JSON schema of inspect's answer."""
    whole, part = (_REFERENCE.format(name=kind.__name__) for kind in (Snapshot, PartContent))
    return {"anyOf": [{"$ref": whole}, {"$ref": part}]}


def components() -> Iterator[tuple[str, dict[str, Any]]]:
    """The named schemas that `answer` refers to."""
    _, found = msgspec.json.schema_components(
        (Snapshot, PartContent),
        ref_template=_REFERENCE,
        schema_hook=lambda _: {"description": "As the provider takes it."},
    )
    for name, schema in found.items():
        for about in schema["properties"].values():
            about.pop("default", None)  # it is left out of the JSON, not filled in
        yield f"{_PREFIX}{name}", schema
