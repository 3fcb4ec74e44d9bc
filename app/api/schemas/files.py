"""Memory, skills, session files, attachments and imports as JSON."""

from __future__ import annotations

import re
from typing import get_args

from marshmallow import fields, validate

from app.api.schemas.fields import Json, Line, Strict, Text
from app.domain.files import MAX_FILE_CHARACTERS
from app.importers.values import Format


class ContentSchema(Strict):
    """The new content of a file."""

    content = Text(required=True, validate=validate.Length(max=MAX_FILE_CHARACTERS))


class FileEntrySchema(Strict):
    """A file without its content."""

    path = fields.String()
    version = fields.Integer()
    sha256 = fields.String()


class FileSchema(FileEntrySchema):
    """A file."""

    content = fields.String()


class FileListSchema(Strict):
    """A page of files, by path."""

    items = fields.List(fields.Nested(FileEntrySchema))
    next = fields.String(allow_none=True)


class SkillWriteSchema(Strict):
    """The new content of a skill; the URL names it."""

    description = Text(required=True, validate=validate.Length(1, 4000))
    body = Text(required=True, validate=validate.Length(1, MAX_FILE_CHARACTERS))
    allowed_tools = fields.List(
        Text(validate=validate.Regexp(re.compile(r"[a-zA-Z0-9_-]{1,128}\Z", re.ASCII))),
        allow_none=True,
        validate=validate.Length(max=256),
    )


class SkillEntrySchema(Strict):
    """A skill as the index shows it."""

    name = fields.String()
    description = fields.String()
    allowed_tools = fields.List(fields.String(), allow_none=True)
    version = fields.Integer()


class SkillSchema(SkillEntrySchema):
    """A skill in full."""

    body = fields.String()


class SkillListSchema(Strict):
    """A page of skills, by name."""

    items = fields.List(fields.Nested(SkillEntrySchema))
    next = fields.String(allow_none=True)


class AttachmentCreateSchema(Strict):
    """An attachment sent as JSON."""

    name = Line(longest=255, required=True)
    media_type = fields.String(
        validate=validate.Regexp(re.compile(r"[\w.+-]{1,63}/[\w.+-]{1,63}\Z", re.ASCII))
    )
    data = fields.String(required=True, metadata={"description": "The bytes, in base64."})


class AttachmentSchema(Strict):
    """What is known of an attachment."""

    id = fields.UUID()
    session_id = fields.UUID()
    name = fields.String()
    media_type = fields.String()
    size_bytes = fields.Integer()
    sha256 = fields.String()
    created_at = fields.String()


class AttachmentListSchema(Strict):
    """A page of attachments, oldest first."""

    items = fields.List(fields.Nested(AttachmentSchema))
    next = fields.String(allow_none=True)


class ImportCreateSchema(Strict):
    """A file to import, sent as JSON."""

    content = fields.String(required=True)  # as it is: the importers repair what they keep
    format = fields.String(validate=validate.OneOf(get_args(Format)))
    name = Line(longest=255)


class ImportedSessionSchema(Strict):
    """What one conversation of an import came to."""

    session_id = fields.UUID(attribute="session.id")
    agent_id = fields.UUID(attribute="session.agent_id")
    parent_session_id = fields.UUID(attribute="session.parent_id", allow_none=True)
    parent_tool_use_id = fields.String(attribute="session.parent_tool_use_id", allow_none=True)
    title = fields.String(attribute="session.title")
    messages = fields.Integer(attribute="session.last_seq")
    created = fields.Boolean()
    updated = fields.Boolean()
    report = Json()


class ImportSchema(Strict):
    """What an import came to. The first session is that of the main file."""

    agent_id = fields.UUID(attribute="first.session.agent_id")
    session_id = fields.UUID(attribute="first.session.id")
    created = fields.Boolean()
    updated = fields.Boolean(attribute="first.updated")
    earlier_session_id = fields.UUID(
        attribute="first.earlier_id",
        allow_none=True,
        metadata={"description": "An earlier import of this source that could not be continued."},
    )
    report = Json(attribute="first.report")
    sessions = fields.List(fields.Nested(ImportedSessionSchema))
