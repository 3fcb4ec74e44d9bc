"""/v1/sessions/{id}/context/try and /v1/tries/{id}"""

from __future__ import annotations

import dataclasses
from typing import Any
from uuid import UUID

from app.api import idempotency, paging, waiting
from app.api.current import reading, runtime, transaction
from app.api.resource import Resource
from app.api.schemas.pages import PageQuery
from app.api.schemas.tries import TryCreateSchema, TryPageSchema, TryQuery, TrySchema
from app.api.schemas.try_diffs import TryDiffQuery, TryDiffSchema
from app.services import tries, try_diffs, work
from app.services.tries import Shown
from app.services.try_diffs import TryDiff
from app.services.try_plans import Wanted

blueprint = Resource("tries", "One real call without those parts, which leaves no trace behind.")


@blueprint.post("/sessions/<uuid:session_id>/context/try")
@blueprint.takes(TryCreateSchema)
@blueprint.asks(TryQuery)
@blueprint.gives(202, TrySchema)
@blueprint.notes(parameters=[idempotency.HEADER, waiting.PREFER])
def create_try(
    body: Wanted, query: dict[str, Any], session_id: UUID
) -> tuple[Shown, int, dict[str, str]]:
    """Send the session's next call once with parts left out or replaced, and keep the answer.

    Nothing is added to the session. With `wait` the answer is 200 when the try ended in time.
    """
    seconds = waiting.asked_for(query["wait"])
    work.check_broker(runtime())
    with transaction() as tx:
        begun = idempotency.once(
            tx,
            dataclasses.asdict(body),
            lambda: tries.begin(runtime(), tx, session_id, body),
            lambda try_id: tries.get(tx, try_id),
        )
    shown = _waited(begun.id, seconds) if seconds else begun
    location = {"Location": f"/v1/tries/{begun.id}"}
    if seconds and shown.status.is_final:
        return shown, 200, location
    return shown, 202, location | {"Retry-After": "1"}


@blueprint.get("/sessions/<uuid:session_id>/context/tries")
@blueprint.asks(PageQuery)
@blueprint.gives(200, TryPageSchema)
def list_tries(query: dict[str, Any], session_id: UUID) -> dict[str, Any]:
    """List a session's tries, newest first."""
    after = paging.position(query, UUID)
    with reading() as tx:
        return paging.body(tries.page(tx, session_id, after, query["limit"]), query)


@blueprint.get("/tries/<uuid:try_id>")
@blueprint.asks(TryQuery)
@blueprint.gives(200, TrySchema)
@blueprint.notes(parameters=[waiting.PREFER])
def get_try(query: dict[str, Any], try_id: UUID) -> Shown:
    """Read a try; with `wait`, as soon as it has ended or the time is up."""
    return _waited(try_id, waiting.asked_for(query["wait"]))


@blueprint.get("/tries/<uuid:try_id>/diff")
@blueprint.asks(TryDiffQuery)
@blueprint.gives(200, TryDiffSchema)
def compare_tries(query: dict[str, Any], try_id: UUID) -> TryDiff:
    """Show what a try was sent, and answered, differently from another one."""
    with reading() as tx:
        return try_diffs.diff(tx, try_id, query["other"])


@blueprint.delete("/tries/<uuid:try_id>")
@blueprint.gives(200, TrySchema)
def cancel_try(try_id: UUID) -> Shown:
    """Cancel a try: one that waits for a worker never calls the model, a call is broken off."""
    with transaction() as tx:
        cancelled = tries.cancel(tx, try_id)
    work.tell_cancelled(runtime(), cancelled.trial)
    return cancelled


def _waited(try_id: UUID, seconds: int) -> Shown:
    return waiting.until(lambda: _read(try_id), try_id, seconds, tries.among)


def _read(try_id: UUID) -> Shown:
    with reading() as tx:
        return tries.get(tx, try_id)
