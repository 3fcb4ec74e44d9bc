"""/v1/sessions/{id}/attachments"""

from __future__ import annotations

from io import BytesIO
from typing import Any
from uuid import UUID

from flask import Response, send_file

from app.api import idempotency, paging, uploads
from app.api.current import reading, runtime, transaction
from app.api.resource import Resource
from app.api.schemas.files import AttachmentCreateSchema, AttachmentListSchema, AttachmentSchema
from app.api.schemas.pages import PageQuery
from app.domain.attachments import Attachment
from app.services import attachments

blueprint = Resource("attachments", "Files that people add to a session.")


@blueprint.post("/sessions/<uuid:session_id>/attachments")
@blueprint.gives(201, AttachmentSchema)
@blueprint.notes(**uploads.described(AttachmentCreateSchema), parameters=[idempotency.HEADER])
def create_attachment(session_id: UUID) -> Attachment:
    """Add a file: as multipart/form-data in the field `file`, or as JSON with base64."""
    given = uploads.attachment(AttachmentCreateSchema())
    limit = runtime().settings.max_attachment_bytes
    with transaction() as tx:
        return idempotency.once(
            tx,
            given.identity,
            lambda: attachments.add(tx, session_id, given, limit=limit),
            lambda made: tx.attachments.get(session_id, made),
        )


@blueprint.get("/sessions/<uuid:session_id>/attachments")
@blueprint.asks(PageQuery)
@blueprint.gives(200, AttachmentListSchema)
def list_attachments(query: dict[str, Any], session_id: UUID) -> dict[str, Any]:
    """List a session's attachments, oldest first."""
    with reading() as tx:
        tx.sessions.get(session_id)
        found = tx.attachments.of(session_id)
    return paging.sliced(found, query, lambda attachment: str(attachment.id))


@blueprint.get("/sessions/<uuid:session_id>/attachments/<uuid:attachment_id>")
@blueprint.gives(200, AttachmentSchema)
def get_attachment(session_id: UUID, attachment_id: UUID) -> Attachment:
    """Read what is known of an attachment."""
    with reading() as tx:
        return tx.attachments.get(session_id, attachment_id)


@blueprint.get("/sessions/<uuid:session_id>/attachments/<uuid:attachment_id>/content")
@blueprint.notes(responses={"200": uploads.BYTES})
def download_attachment(session_id: UUID, attachment_id: UUID) -> Response:
    """Download an attachment's bytes."""
    with reading() as tx:
        about = tx.attachments.get(session_id, attachment_id)
        data = tx.attachments.data(session_id, attachment_id)
    response = send_file(
        BytesIO(data), about.media_type, as_attachment=True, download_name=about.name, etag=False
    )
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response


@blueprint.delete("/sessions/<uuid:session_id>/attachments/<uuid:attachment_id>")
@blueprint.gives(204)
def delete_attachment(session_id: UUID, attachment_id: UUID) -> None:
    """Delete an attachment."""
    with transaction() as tx:
        attachments.delete(tx, session_id, attachment_id)
