"""/v1/sessions/{id}/context: what the next model call would send."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec
from flask import Response

from app.api.current import reading
from app.api.resource import Resource
from app.api.schemas.context import ContextQuery, answer
from app.domain.snapshots import PartContent, Snapshot
from app.services import context, part_content

blueprint = Resource("context", "What the next model call of a session would send.")


@blueprint.get("/sessions/<uuid:session_id>/context")
@blueprint.asks(ContextQuery)
@blueprint.notes(
    responses={
        "200": {
            "description": "The snapshot, or with `full` one part.",
            "content": {"application/json": {"schema": answer()}},
        }
    }
)
def get_context(query: dict[str, Any], session_id: UUID) -> Response:
    """Show the next call part by part. Nothing is written, and no model is called."""
    with reading() as tx:
        if query["full"] is not None:
            return _json(part_content.part_in_full(tx, session_id, *_wanted(query)))
        whole = context.inspect(tx, session_id, transparent=not query["injections"])
    return _json(context.page_of_messages(whole, query["messages_limit"], query["messages_before"]))


def _wanted(query: dict[str, Any]) -> tuple[str, part_content.View]:
    return query["full"], part_content.View(query["media"], query["view"] == "before")


def _json(value: Snapshot | PartContent) -> Response:
    return Response(msgspec.json.encode(value), mimetype="application/json")
