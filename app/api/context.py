"""/v1/sessions/{id}/context: what the next model call would send."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any
from uuid import UUID

import msgspec
from flask import Response

from app.api.current import principal, reading, runtime
from app.api.resource import Resource
from app.api.schemas.context import ContextQuery, answer
from app.domain.snapshots import PartContent, Snapshot
from app.services import context, injections, part_content, provider_count

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
    """Show the next call part by part. Nothing is written, and no model is called.

    Injections are gathered with `injections=1` alone; `injections` in the answer lists them.
    The provider is asked for its count with `count=provider` alone.
    """
    with _gathered(query, session_id) as gathering, reading() as tx:
        if query["full"] is not None:
            part, view = _wanted(query)
            found = part_content.part_in_full(tx, session_id, part, view, gathering.injected)
            return _json(found)
        assembled, whole = context.inspected(tx, session_id, gathering.injected)
        body = context.body_of(tx, assembled) if query["count"] == "provider" else None
    if body is not None:
        whole = provider_count.with_provider_count(runtime(), whole, body)
    return _json(context.page_of_messages(whole, query["messages_limit"], query["messages_before"]))


def _gathered(
    query: dict[str, Any], session_id: UUID
) -> AbstractContextManager[injections.Gathering]:
    if not query["injections"]:
        return nullcontext(injections.Gathering())
    return injections.inspected(runtime(), principal(), session_id)


def _wanted(query: dict[str, Any]) -> tuple[str, part_content.View]:
    return query["full"], part_content.View(query["media"], query["view"] == "before")


def _json(value: Snapshot | PartContent) -> Response:
    return Response(msgspec.json.encode(value), mimetype="application/json")
