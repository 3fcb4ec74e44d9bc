"""/v1/imports"""

from __future__ import annotations

from typing import Any

from app.api import idempotency, uploads
from app.api.current import runtime, transaction
from app.api.resource import Resource
from app.api.schemas.files import ImportCreateSchema, ImportSchema
from app.services import import_reading, imports

blueprint = Resource("imports", "Sessions from elsewhere: transcripts, captured requests, exports.")


@blueprint.post("/imports")
@blueprint.gives(201, ImportSchema)
@blueprint.notes(
    **uploads.described(ImportCreateSchema, several=True), parameters=[idempotency.HEADER]
)
def create_import() -> Any:
    """Import a file: as multipart/form-data in the field `file`, or as JSON.

    Several files are a session's main file and those of its subagents. A file that was imported
    before is recognised: it answers 200 with `created` false and the same ids.
    """
    files, declared = uploads.source_files(ImportCreateSchema())
    read = import_reading.read(files, declared, default_model=runtime().settings.default_model)
    with transaction() as tx:
        outcome = idempotency.once_named(
            tx,
            uploads.identity(files, declared),
            lambda: imports.store(tx, read),
            lambda made: imports.find(tx, made),
            name=imports.ids_of,
        )
    return outcome, 201 if outcome.created else 200
