"""Fields that take exactly what they say: no number for a text, no "yes" for a boolean."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from marshmallow import Schema, ValidationError, fields, validate

from app.domain.text import clean

_DIGITS = re.compile(r"[0-9]{1,9}", re.ASCII)


class Text(fields.String):
    """A text. NUL and half surrogate pairs, which no store or provider takes, become U+FFFD."""

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> Any:
        if not isinstance(value, str):
            raise self.make_error("invalid")
        return clean(value)


class Line(Text):
    """A text of one line with something to see in it: names and titles."""

    def __init__(self, *, longest: int, **kwargs: Any) -> None:
        super().__init__(validate=[validate.Length(1, longest), _one_line], **kwargs)


def _one_line(value: str) -> None:
    if not value.strip() or not value.replace("\u200d", "").isprintable():
        raise ValidationError("Write one line of visible text.")


class WholeNumber(fields.Integer):
    """A JSON number without a fraction; never a text or a boolean."""

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> Any:
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.make_error("invalid")
        return value


class Flag(fields.Boolean):
    """true or false; never 1, "yes" or "on"."""

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> Any:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input="")
        return value


class Digits(fields.Integer):
    """A number in a query: plain ASCII digits, no sign, no blank, no underscore."""

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> Any:
        if not isinstance(value, str) or not _DIGITS.fullmatch(value):
            raise self.make_error("invalid")
        return int(value)


class Switch(fields.Boolean):
    """A boolean in a query: `true` or `false`."""

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> Any:
        if value not in ("true", "false"):
            raise self.make_error("invalid", input="")
        return value == "true"


class Json(fields.Raw):
    """Any JSON value, as it came."""


class JsonText(fields.Raw):
    """JSON that is stored as text, and goes into the answer byte for byte."""

    def _serialize(self, value: Any, *_args: Any, **_kwargs: Any) -> Any:
        return None if value is None else msgspec.Raw(value)


class Strict(Schema):
    """Base of all schemas: an unknown field is refused, and fields keep their order."""
