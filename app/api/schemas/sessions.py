"""Sessions and their messages as JSON."""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError, fields, validate, validates_schema

from app.api.schemas.agents import SubagentSchema
from app.api.schemas.fields import Digits, Flag, Json, JsonText, Line, Strict, Switch
from app.api.schemas.pages import PageQuery

MAX_MESSAGES = 1000
LARGEST_NUMBER = 2**31 - 1  # of a message


class SessionCreateSchema(Strict):
    """A new session."""

    agent_id = fields.UUID(required=True)
    title = Line(longest=200)


class SessionChangeSchema(Strict):
    """What of a session can be changed."""

    title = Line(longest=200)
    archived = Flag()


class SessionSchema(Strict):
    """A session as clients read it."""

    id = fields.UUID()
    agent_id = fields.UUID()
    owner_id = fields.UUID()
    title = fields.String()
    archived = fields.Boolean()
    parent_id = fields.UUID(allow_none=True)
    parent_tool_use_id = fields.String(allow_none=True)
    helper = fields.Nested(
        SubagentSchema,
        allow_none=True,
        metadata={
            "description": "Whose session it is, of the agent's helpers: as defined when `task` "
            "made it. Its prompt and tools take the place of the agent's own."
        },
    )
    message_count = fields.Integer(attribute="last_seq")
    message_tokens = fields.Integer()
    created_at = fields.String()
    updated_at = fields.String()


class ListedSessionSchema(SessionSchema):
    """A session as the list shows it."""

    saved_overrides = fields.Integer(
        metadata={"description": "Of the session and of its agent together."}
    )


class SessionPageSchema(Strict):
    """A page of sessions."""

    items = fields.List(fields.Nested(ListedSessionSchema))
    next = fields.String(allow_none=True)


class SessionQuery(PageQuery):
    """Filters of the list of sessions."""

    agent_id = fields.UUID(load_default=None)
    query = fields.String(load_default=None, validate=validate.Length(1, 200))
    archived = Switch(load_default=None)
    parent = fields.UUID(
        load_default=None,
        metadata={"description": "Only the sessions that helpers of this one have worked in."},
    )
    nested = Switch(
        load_default=False,
        metadata={"description": "Also sessions that have a parent; otherwise they are left out."},
    )
    overrides = Switch(
        load_default=None,
        metadata={"description": "Only those with saved overrides, or only those without."},
    )


class MessageQuery(PageQuery):
    """Where the list of messages begins."""

    first = Digits(
        load_default=1,
        data_key="from",
        validate=validate.Range(1, LARGEST_NUMBER),
        metadata={"description": "The number of the first message. Numbers have no gaps."},
    )


class NewMessageSchema(Strict):
    """One message; `content` is a text or a list of content blocks of the Messages API."""

    role = fields.String(required=True, validate=validate.OneOf(("user", "assistant")))
    content = Json(required=True)


class NewMessagesSchema(Strict):
    """One message, or several that are stored together or not at all."""

    role = fields.String(validate=validate.OneOf(("user", "assistant")))
    content = Json()
    messages = fields.List(
        fields.Nested(NewMessageSchema), validate=validate.Length(1, MAX_MESSAGES)
    )

    @validates_schema
    def _one_or_several(self, data: dict[str, Any], **_: Any) -> None:
        single = {"role", "content"} & data.keys()
        if "messages" in data and single:
            raise ValidationError("Give either `messages`, or `role` and `content`.", "messages")
        for name in {"role", "content"} - single if "messages" not in data else ():
            raise ValidationError("Missing data for required field.", name)


class MessageSchema(Strict):
    """A stored message."""

    seq = fields.Integer()
    role = fields.String()
    content = JsonText(metadata={"type": "array", "items": {"type": "object"}})
    tokens = fields.Integer(allow_none=True)
    preview = fields.String()
    sha256 = fields.String()
    created_at = fields.String()


class MessageItemsSchema(Strict):
    """Messages that were just stored."""

    items = fields.List(fields.Nested(MessageSchema))


class MessagePageSchema(MessageItemsSchema):
    """A page of messages, oldest first."""

    next = fields.String(allow_none=True)
