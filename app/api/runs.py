"""/v1/sessions/{id}/runs and /v1/runs/{id}"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any
from uuid import UUID

import msgspec
from flask import Response, request

from app.api import idempotency, paging, sse, waiting
from app.api.current import principal, reading, runtime, transaction
from app.api.resource import Resource
from app.api.schemas.pages import PageQuery
from app.api.schemas.runs import (
    CallDiffSchema,
    CallItemsSchema,
    CallPartsSchema,
    RunCreateSchema,
    RunPageSchema,
    RunQuery,
    RunSchema,
)
from app.domain.pages import Page
from app.domain.runs import Run
from app.services import runs, work
from app.services.runs import Shown

blueprint = Resource("runs", "A user's message, and everything that the agent does about it.")

_LAST_EVENT_ID: dict[str, Any] = {
    "name": "Last-Event-ID",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "The id of the last event that was seen: those behind it follow.",
}
_EVENTS = {
    "description": "Events as JSON, each with an id; `done` is the last. `message.block` (`turn`, "
    "`block`, `type`; of a call `id`, `name`): a block of the answer begins. `message.delta` "
    "(`turn`, `block`, `delta` as the provider sends it). `tool.started`, `tool.finished` (`id`, "
    "`name`, `is_error`). `task.started`, `task.finished` (`helper`, `run_id`, `session_id`). "
    "`turn.finished` (`turn`, `messages`: what was stored). `reset`: events behind "
    "`Last-Event-ID` are no longer kept, so read the messages anew.",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}

Accepted = tuple[Shown, dict[str, str]]


@blueprint.post("/sessions/<uuid:session_id>/runs")
@blueprint.takes(RunCreateSchema)
@blueprint.gives(202, RunSchema)
@blueprint.notes(parameters=[idempotency.HEADER])
def create_run(body: dict[str, Any], session_id: UUID) -> Accepted:
    """Append a user's message and let a worker answer it.

    A session has one run at a time: while one has not ended, 409 names it.
    """
    work.check_broker(runtime())
    with transaction() as tx:
        begun = idempotency.once(
            tx,
            body,
            lambda: runs.begin(
                tx, session_id, body["message"], body["max_turns"], now=runtime().now()
            ),
            lambda run_id: runs.get(tx, run_id),
        )
    return begun, {"Location": f"/v1/runs/{begun.id}", "Retry-After": "1"}


@blueprint.get("/sessions/<uuid:session_id>/runs")
@blueprint.asks(PageQuery)
@blueprint.gives(200, RunPageSchema)
def list_runs(query: dict[str, Any], session_id: UUID) -> dict[str, Any]:
    """List a session's runs, newest first."""
    after = paging.position(query, UUID)
    with reading() as tx:
        tx.sessions.get(session_id)
        found = tx.runs.page(session_id, after, query["limit"])
        page = Page(runs.shown(tx, found.items), found.next)
    return paging.body(page, query)


@blueprint.get("/runs/<uuid:run_id>")
@blueprint.asks(RunQuery)
@blueprint.gives(200, RunSchema)
@blueprint.notes(parameters=[waiting.PREFER])
def get_run(query: dict[str, Any], run_id: UUID) -> Shown:
    """Read a run; with `wait`, as soon as it has ended or the time is up."""
    seconds = waiting.asked_for(query["wait"])
    return waiting.until(lambda: _read(run_id), run_id, seconds, runs.among)


@blueprint.delete("/runs/<uuid:run_id>")
@blueprint.gives(200, RunSchema)
def cancel_run(run_id: UUID) -> Shown:
    """Cancel a run: at once while it waits for a worker, otherwise within about a second."""
    with transaction() as tx:
        cancelled = runs.cancel(tx, run_id)
    work.tell_cancelled(runtime(), cancelled.run)
    return cancelled


@blueprint.get("/runs/<uuid:run_id>/events")
@blueprint.notes(parameters=[_LAST_EVENT_ID], responses={"200": _EVENTS})
def follow_run(run_id: UUID) -> Response:
    """Follow a run as it goes: `message.delta`, `tool.started`, `task.started`, `done` …

    `injection.failed` tells of an injection that a call goes without, and why.
    """
    after = sse.position(request.headers.get("Last-Event-ID"))
    _read(run_id)
    place = ExitStack()
    must_go = place.enter_context(waiting.place())
    # The views' context is gone by the time that the body is made.
    database, redis, reader = runtime().database, runtime().followed, principal()

    def read() -> Run:
        with database.reading(reader) as tx:
            return tx.runs.get(run_id)

    frames = sse.follow(redis, read, after, must_go)
    response = Response(frames, mimetype="text/event-stream", headers=sse.HEADERS)
    response.call_on_close(place.close)
    return response


@blueprint.get("/runs/<uuid:run_id>/calls")
@blueprint.gives(200, CallItemsSchema)
def list_calls(run_id: UUID) -> dict[str, Any]:
    """List the run's model calls with what they cost, in their order."""
    with reading() as tx:
        return {"items": runs.calls(tx, run_id)}


@blueprint.get("/runs/<uuid:run_id>/calls/<int:number>")
@blueprint.gives(200, CallPartsSchema)
def get_call(run_id: UUID, number: int) -> dict[str, Any]:
    """Show what a call was made of, part by part, as it was sent."""
    with reading() as tx:
        record, parts = runs.call(tx, run_id, number)
    return msgspec.structs.asdict(record) | {"parts": parts}


@blueprint.get("/runs/<uuid:run_id>/calls/<int:number>/diff/<int:other>")
@blueprint.gives(200, CallDiffSchema)
def compare_calls(run_id: UUID, number: int, other: int) -> Any:
    """Show what call `other` was sent differently from call `number`."""
    with reading() as tx:
        return runs.diff(tx, run_id, number, other)


def _read(run_id: UUID) -> Shown:
    with reading() as tx:
        return runs.get(tx, run_id)
