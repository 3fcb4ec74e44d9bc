"""Files that come in: as multipart/form-data in the field `file`, or within JSON."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from flask import request
from marshmallow import RAISE, Schema, ValidationError

from app.api.bodies import faults_of, json_body, messages_of
from app.errors import BadBody, Fault
from app.importers.values import SourceFile
from app.services.attachments import NewAttachment, file_name

BYTES: dict[str, Any] = {
    "description": "The bytes, as they were sent.",
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
}
_FILE = {"type": "string", "contentMediaType": "application/octet-stream"}


def described(schema: type[Schema], *, several: bool = False) -> dict[str, Any]:
    """The two forms of the body, for the OpenAPI document."""
    part: dict[str, Any] = {"type": "array", "items": _FILE} if several else _FILE
    form = {"type": "object", "properties": {"file": part}, "required": ["file"]}
    content = {
        "multipart/form-data": {"schema": form},
        "application/json": {"schema": schema},
    }
    return {"requestBody": {"required": True, "content": content}}


def attachment(schema: Schema) -> NewAttachment:
    """The attachment in the body.

    Raises:
        BadBody, MalformedBody, UnsupportedMediaType
    """
    if request.mimetype == "multipart/form-data":
        sent = _form_files()
        if len(sent) != 1:
            raise BadBody(faults=[Fault("file", "one_file", "Send one file at a time.")])
        file = sent[0]
        return NewAttachment(file_name(file.filename), file.mimetype, file.read())
    given = loaded(schema)
    media_type = given.get("media_type", "")
    return NewAttachment(file_name(given["name"]), media_type, _decoded(given["data"]))


def source_files(schema: Schema) -> tuple[list[SourceFile], str | None]:
    """The files to import, and the format that they are said to have.

    Raises:
        BadBody, MalformedBody, UnsupportedMediaType
    """
    if request.mimetype == "multipart/form-data":
        files = [SourceFile(file_name(each.filename), each.read()) for each in _form_files()]
        return files, loaded_form(schema).get("format")
    given = loaded(schema)
    # Half surrogate pairs cannot be encoded; the importers repair what they keep.
    data = given["content"].encode("utf-8", "surrogatepass")
    return [SourceFile(given.get("name", "import"), data)], given.get("format")


def identity(files: Sequence[SourceFile], declared: str | None) -> list[Any]:
    """What makes them the same files when they are sent again."""
    return [declared, *([each.name, hashlib.sha256(each.data).hexdigest()] for each in files)]


def loaded(schema: Schema) -> Mapping[str, Any]:
    """The JSON body, as the schema loads it.

    Raises:
        BadBody, MalformedBody, UnsupportedMediaType
    """
    return _load(schema, json_body(request))


def loaded_form(schema: Schema) -> Mapping[str, Any]:
    """The text fields beside the files of a form.

    Raises:
        BadBody: one that is not known, or holds what it may not.
    """
    return _load(schema, request.form.to_dict(), partial=True)


def _load(schema: Schema, value: Any, *, partial: bool = False) -> Mapping[str, Any]:
    try:
        return schema.load(value, unknown=RAISE, partial=partial)  # type: ignore[no-any-return]
    except ValidationError as error:
        raise BadBody(faults=faults_of(messages_of(error))) from None


def _form_files() -> list[Any]:
    unknown = request.files.keys() - {"file"}
    files = request.files.getlist("file")
    if unknown or not files:
        advice = "Send files in the field `file`, and in no other."
        raise BadBody(faults=[Fault("file", "missing", advice)])
    return files


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise BadBody(faults=[Fault("data", "invalid", "This is not base64.")]) from None
