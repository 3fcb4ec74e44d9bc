"""/v1/sessions/{id}/messages"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from app.api import idempotency, paging
from app.api.current import reading, transaction
from app.api.resource import Resource
from app.api.schemas.sessions import (
    MessageItemsSchema,
    MessagePageSchema,
    MessageQuery,
    NewMessagesSchema,
)
from app.services import messages

blueprint = Resource("messages", "The persisted turns of a session.")


@blueprint.post("/sessions/<uuid:session_id>/messages")
@blueprint.takes(NewMessagesSchema)
@blueprint.gives(201, MessageItemsSchema)
@blueprint.notes(parameters=[idempotency.HEADER])
def append_messages(body: dict[str, Any], session_id: UUID) -> dict[str, Any]:
    """Append one message, or several that are stored together or not at all.

    What they leave must be a history that can be sent: only calls of the last message may be open.
    """
    given = body.get("messages", [body])
    with transaction() as tx:
        stored = idempotency.once_named(
            tx,
            body,
            lambda: messages.append(tx, session_id, given),
            lambda seqs: messages.stored(tx, session_id, **seqs),
            name=messages.seqs_of,
        )
    return {"items": stored}


@blueprint.get("/sessions/<uuid:session_id>/messages")
@blueprint.asks(MessageQuery)
@blueprint.gives(200, MessagePageSchema)
def list_messages(query: dict[str, Any], session_id: UUID) -> dict[str, Any]:
    """List a session's messages, oldest first."""
    after = paging.position(query, int) or query["first"] - 1
    with reading() as tx:
        tx.sessions.get(session_id)
        page = tx.messages.page(session_id, after, query["limit"])
    return paging.body(page, query)
