"""/v1/sessions/{id}/context/ablations and /v1/ablations/{id}"""

from __future__ import annotations

import dataclasses
from typing import Any
from uuid import UUID

from app.api import ablation_rows, auth, idempotency, paging, waiting
from app.api.current import reading, runtime, transaction
from app.api.resource import Resource
from app.api.schemas.ablations import (
    AblationCreateSchema,
    AblationPageSchema,
    AblationPlanSchema,
    AblationQuery,
    AblationSchema,
    AblationWishSchema,
)
from app.api.schemas.pages import PageQuery
from app.domain.pages import Page
from app.services import ablation_plans, ablations, work
from app.services.ablation_plans import WantedAblation
from app.services.ablations import Shown

blueprint = Resource("ablations", "The same call without each of some parts in turn.")

SESSION = "/sessions/<uuid:session_id>/context/ablations"


@blueprint.post(f"{SESSION}/preview")
@blueprint.takes(AblationWishSchema)
@blueprint.gives(200, AblationPlanSchema)
def preview_ablation(body: WantedAblation, session_id: UUID) -> dict[str, Any]:
    """Say what POST would try, and what that can cost. Nothing is called or stored."""
    with reading() as tx:
        planned = ablation_plans.planned(runtime(), tx, session_id, body)
    return ablation_rows.plan(session_id, planned)


@blueprint.post(SESSION)
@blueprint.takes(AblationCreateSchema)
@blueprint.asks(AblationQuery)
@blueprint.gives(202, AblationSchema)
@blueprint.notes(parameters=[idempotency.HEADER, waiting.PREFER])
def create_ablation(
    body: tuple[WantedAblation, int | None], query: dict[str, Any], session_id: UUID
) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Make the session's next call without each of the parts in turn, and once more with all.

    It counts as as many requests as it has tries. With `wait` the answer is 200 when it ended in
    time.
    """
    wanted, max_cost = body
    seconds = waiting.asked_for(query["wait"])
    work.check_broker(runtime())
    with transaction() as tx:

        def begin() -> Shown:
            planned = ablation_plans.planned(runtime(), tx, session_id, wanted)
            begun = ablations.begin(runtime(), tx, session_id, planned, max_cost)
            auth.charge(planned.estimate.tries)
            return begun

        begun = idempotency.once(
            tx,
            [dataclasses.asdict(wanted), max_cost],
            begin,
            lambda ablation_id: ablations.get(tx, ablation_id),
        )
    shown = waiting.until(lambda: _read(begun.id), begun.id, seconds) if seconds else begun
    location = {"Location": f"/v1/ablations/{begun.id}"}
    if seconds and shown.status.is_final:
        return ablation_rows.ablation(shown), 200, location
    return ablation_rows.ablation(shown), 202, location | {"Retry-After": "1"}


@blueprint.get(SESSION)
@blueprint.asks(PageQuery)
@blueprint.gives(200, AblationPageSchema)
def list_ablations(query: dict[str, Any], session_id: UUID) -> dict[str, Any]:
    """List a session's ablations, newest first."""
    after = paging.position(query, UUID)
    with reading() as tx:
        found = ablations.page(tx, session_id, after, query["limit"])
    return paging.body(Page([*map(ablation_rows.ablation, found.items)], found.next), query)


@blueprint.get("/ablations/<uuid:ablation_id>")
@blueprint.asks(AblationQuery)
@blueprint.gives(200, AblationSchema)
@blueprint.notes(parameters=[waiting.PREFER])
def get_ablation(query: dict[str, Any], ablation_id: UUID) -> dict[str, Any]:
    """Read an ablation; with `wait`, as soon as it has ended or the time is up."""
    seconds = waiting.asked_for(query["wait"])
    return ablation_rows.ablation(waiting.until(lambda: _read(ablation_id), ablation_id, seconds))


@blueprint.delete("/ablations/<uuid:ablation_id>")
@blueprint.gives(200, AblationSchema)
def cancel_ablation(ablation_id: UUID) -> dict[str, Any]:
    """Cancel an ablation: start no more tries, and cancel those that are open."""
    with transaction() as tx:
        shown, cancelled = ablations.cancel(runtime(), tx, ablation_id)
    ablations.tell(runtime(), shown, cancelled)
    return ablation_rows.ablation(shown)


def _read(ablation_id: UUID) -> Shown:
    with reading() as tx:
        return ablations.get(tx, ablation_id)
