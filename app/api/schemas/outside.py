"""Tools from outside as JSON. Values of headers come in and never go out."""

from __future__ import annotations

import re
from typing import Any

from marshmallow import ValidationError, fields, validate

from app.api.schemas.fields import Json, Strict, Text, WholeNumber
from app.domain.outside import DEFAULT_SECONDS, MAX_SECONDS, METHODS

MAX_HEADERS = 32
MAX_HEADER_CHARACTERS = 8192
MAX_DESCRIPTION_CHARACTERS = 16_384

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}", re.ASCII)
_HEADER_VALUE = re.compile(r"[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?", re.ASCII)
# What the connection is made of, or says where it goes: hango's to write.
_NOT_A_TENANTS = {
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}


class Headers(fields.Field[Any]):
    """Names and values of headers; null keeps the value that is stored."""

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> Any:
        if not isinstance(value, dict) or len(value) > MAX_HEADERS:
            raise ValidationError(f"Give an object with at most {MAX_HEADERS} headers.")
        if len({name.lower() for name in value}) != len(value):
            raise ValidationError("The same header stands here twice.")
        faults = {name: [fault] for name, text in value.items() if (fault := _fault(name, text))}
        if faults:
            raise ValidationError(faults)
        return value


def _fault(name: str, value: Any) -> str | None:
    """What is wrong with a header. The text never quotes its value."""
    if not _HEADER_NAME.fullmatch(name) or name.lower().startswith("proxy-"):
        return "This is no name of a header that can be sent."
    if name.lower() in _NOT_A_TENANTS:
        return "hango writes this header itself."
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > MAX_HEADER_CHARACTERS:
        return f"Give a text of at most {MAX_HEADER_CHARACTERS} characters, or null to keep it."
    return None if _HEADER_VALUE.fullmatch(value) else "Only visible ASCII characters and blanks."


ABOUT_HEADERS = {
    "type": "object",
    "additionalProperties": {"type": ["string", "null"]},
    "description": "Sent with each call, and never shown again. null keeps the stored value; what "
    "is not named is removed.",
}


class _Called(Strict):
    url = fields.String(required=True, validate=validate.Length(1, 2048))
    headers = Headers(load_default=dict, metadata=ABOUT_HEADERS)
    timeout_seconds = WholeNumber(
        load_default=DEFAULT_SECONDS, validate=validate.Range(1, MAX_SECONDS)
    )


class HttpToolWriteSchema(_Called):
    """An HTTP tool to be registered."""

    description = Text(required=True, validate=validate.Length(1, MAX_DESCRIPTION_CHARACTERS))
    input_schema = Json(
        required=True,
        metadata={"type": "object", "description": "A JSON Schema whose type is object."},
    )
    method = fields.String(load_default="POST", validate=validate.OneOf(METHODS))


class McpServerWriteSchema(_Called):
    """An MCP server to be registered; it is asked for its tools at once."""

    allowed_tools = fields.List(
        Text(validate=validate.Length(1, 256)),
        load_default=None,
        allow_none=True,
        validate=validate.Length(max=256),
        metadata={"description": "The server's names of the tools that agents may have."},
    )


class OutsideToolSchema(Strict):
    """A tool that agents can name."""

    name = fields.String()
    kind = fields.String(metadata={"enum": ["http", "mcp"]})
    server = fields.Function(
        lambda tool: tool.source if tool.kind == "mcp" else None,
        metadata={"type": ["string", "null"], "description": "The MCP server that it is of."},
    )
    description = fields.Function(
        lambda tool: tool.definition.get("description", ""), metadata={"type": "string"}
    )
    input_schema = fields.Function(
        lambda tool: tool.definition["input_schema"], metadata={"type": "object"}
    )


class OutsideToolListSchema(Strict):
    """A page of tools, by name."""

    items = fields.List(fields.Nested(OutsideToolSchema))
    next = fields.String(allow_none=True)


class _Registered(Strict):
    name = fields.String()
    url = fields.String()
    headers_set = fields.List(
        fields.String(),
        attribute="header_names",
        metadata={"description": "The headers that have a value. Their values are never shown."},
    )
    timeout_seconds = fields.Integer()
    version = fields.Integer()
    created_at = fields.String()
    updated_at = fields.String()


class HttpToolSchema(_Registered):
    """A registered HTTP tool."""

    description = fields.String()
    input_schema = Json()
    method = fields.String()


class ListedToolSchema(Strict):
    """A tool of an MCP server, as the server listed it last."""

    name = fields.String()
    sent_as = fields.String(metadata={"description": "Its name in agents and in requests."})
    description = fields.String()
    input_schema = Json()
    wrapped = fields.Boolean(
        metadata={"description": "Its schema stands in `input`, since it may not be at the top."}
    )


class LeftOutSchema(Strict):
    """A tool of an MCP server that cannot be sent."""

    name = fields.String()
    reason = fields.String()


class McpServerSchema(_Registered):
    """A registered MCP server, with its tools as it listed them last."""

    allowed_tools = fields.List(fields.String(), allow_none=True)
    tools = fields.List(fields.Nested(ListedToolSchema))
    left_out = fields.List(fields.Nested(LeftOutSchema))
    listed_at = fields.String()


class McpServerListSchema(Strict):
    """A page of MCP servers, by name."""

    items = fields.List(fields.Nested(McpServerSchema))
    next = fields.String(allow_none=True)


class ChangesSchema(Strict):
    """How a listing differs from the one before, by the server's names."""

    added = fields.List(fields.String())
    changed = fields.List(fields.String())
    removed = fields.List(fields.String())


class StoredServerSchema(Strict):
    """An MCP server that was asked, and what is different since it was asked before."""

    server = fields.Nested(McpServerSchema)
    changes = fields.Nested(ChangesSchema)
