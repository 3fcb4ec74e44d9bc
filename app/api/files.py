"""/v1/sessions/{id}/files"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from app.api import etags, paging
from app.api.current import reading, transaction
from app.api.resource import Resource
from app.api.schemas.files import ContentSchema, FileListSchema, FileSchema
from app.api.schemas.pages import PageQuery
from app.domain.files import SessionFile
from app.services import files

blueprint = Resource("files", "The virtual filesystem of a session. No host file is behind it.")


@blueprint.get("/sessions/<uuid:session_id>/files")
@blueprint.asks(PageQuery)
@blueprint.gives(200, FileListSchema)
def list_files(query: dict[str, Any], session_id: UUID) -> dict[str, Any]:
    """List a session's files by path."""
    with reading() as tx:
        tx.sessions.get(session_id)
        found = tx.files.of(session_id)
    return paging.sliced(found, query, lambda file: file.path)


@blueprint.get("/sessions/<uuid:session_id>/files/<rest:path>")
@blueprint.gives(200, FileSchema)
def get_file(session_id: UUID, path: str) -> SessionFile:
    """Read a file."""
    with reading() as tx:
        tx.sessions.get(session_id)
        return etags.shown(tx.files.get(session_id, path))


@blueprint.put("/sessions/<uuid:session_id>/files/<rest:path>")
@blueprint.takes(ContentSchema)
@blueprint.gives(200, FileSchema)
def put_file(body: dict[str, Any], session_id: UUID, path: str) -> SessionFile:
    """Write a file. Its path is taken as it is: `//`, `.` and `..` are refused."""
    with transaction() as tx:
        return etags.shown(files.write(tx, session_id, path, body["content"]))


@blueprint.delete("/sessions/<uuid:session_id>/files/<rest:path>")
@blueprint.gives(204)
def delete_file(session_id: UUID, path: str) -> None:
    """Delete a file."""
    with transaction() as tx:
        files.delete(tx, session_id, path)
