"""/v1/agents/{id}/context-overrides and /v1/sessions/{id}/context-overrides"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from app.api import etags
from app.api.current import reading, transaction
from app.api.resource import Resource
from app.api.schemas.overrides import (
    HistorySchema,
    OverrideSetSchema,
    PreviewQuery,
    PreviewSchema,
    RestoreSchema,
    StoredSetSchema,
)
from app.domain.overrides import Target
from app.services import override_previews, overrides
from app.services.overrides import Answer

blueprint = Resource("overrides", "What is left out of, or replaced in, the next model calls.")

AGENT = "/agents/<uuid:target_id>/context-overrides"
SESSION = "/sessions/<uuid:target_id>/context-overrides"


def _get(target: Target) -> Answer:
    with reading() as tx:
        return etags.shown(overrides.of(tx, target))


def _put(target: Target, body: dict[str, Any]) -> Answer:
    with transaction() as tx:
        stored = overrides.replace(
            tx, target, body["overrides"], reason=body["reason"], precondition=etags.check
        )
    return etags.shown(stored)


def _restore(target: Target, version: int) -> Answer:
    with transaction() as tx:
        stored = overrides.restore(tx, target, version, precondition=etags.check)
    return etags.shown(stored)


def _history(target: Target) -> dict[str, Any]:
    with reading() as tx:
        return {"items": tx.overrides.history(target)}


@blueprint.get(SESSION)
@blueprint.gives(200, StoredSetSchema)
def get_session_overrides(target_id: UUID) -> Answer:
    """Read the session's overrides of messages and the summary."""
    return _get(Target("session", target_id))


@blueprint.put(SESSION)
@blueprint.takes(OverrideSetSchema)
@blueprint.gives(200, StoredSetSchema)
@blueprint.notes(parameters=[etags.IF_MATCH])
def put_session_overrides(body: dict[str, Any], target_id: UUID) -> Answer:
    """Replace the session's overrides; an empty list clears them. They act from the next run."""
    return _put(Target("session", target_id), body)


@blueprint.post(f"{SESSION}/preview")
@blueprint.takes(OverrideSetSchema)
@blueprint.gives(200, PreviewSchema)
def preview_session_overrides(body: dict[str, Any], target_id: UUID) -> dict[str, Any]:
    """Say what PUT would answer, and what the edit would cost. Nothing is stored."""
    with reading() as tx:
        return override_previews.preview(
            tx, Target("session", target_id), body["overrides"], target_id
        )


@blueprint.get(f"{SESSION}/history")
@blueprint.gives(200, HistorySchema)
def list_session_override_sets(target_id: UUID) -> dict[str, Any]:
    """List the last sets of the session, newest first."""
    return _history(Target("session", target_id))


@blueprint.post(f"{SESSION}/restore")
@blueprint.takes(RestoreSchema)
@blueprint.gives(200, StoredSetSchema)
@blueprint.notes(parameters=[etags.IF_MATCH])
def restore_session_overrides(body: dict[str, Any], target_id: UUID) -> Answer:
    """Bring back one of the last sets, checked as if it were new."""
    return _restore(Target("session", target_id), body["version"])


@blueprint.get(AGENT)
@blueprint.gives(200, StoredSetSchema)
def get_agent_overrides(target_id: UUID) -> Answer:
    """Read the agent's overrides of system blocks and tools."""
    return _get(Target("agent", target_id))


@blueprint.put(AGENT)
@blueprint.takes(OverrideSetSchema)
@blueprint.gives(200, StoredSetSchema)
@blueprint.notes(parameters=[etags.IF_MATCH])
def put_agent_overrides(body: dict[str, Any], target_id: UUID) -> Answer:
    """Replace the agent's overrides; they act in every session of the agent."""
    return _put(Target("agent", target_id), body)


@blueprint.post(f"{AGENT}/preview")
@blueprint.takes(OverrideSetSchema)
@blueprint.asks(PreviewQuery)
@blueprint.gives(200, PreviewSchema)
def preview_agent_overrides(
    body: dict[str, Any], query: dict[str, Any], target_id: UUID
) -> dict[str, Any]:
    """Say what PUT would answer; with `session`, also what the edit would cost there."""
    with reading() as tx:
        return override_previews.preview(
            tx, Target("agent", target_id), body["overrides"], query["session"]
        )


@blueprint.get(f"{AGENT}/history")
@blueprint.gives(200, HistorySchema)
def list_agent_override_sets(target_id: UUID) -> dict[str, Any]:
    """List the last sets of the agent, newest first."""
    return _history(Target("agent", target_id))


@blueprint.post(f"{AGENT}/restore")
@blueprint.takes(RestoreSchema)
@blueprint.gives(200, StoredSetSchema)
@blueprint.notes(parameters=[etags.IF_MATCH])
def restore_agent_overrides(body: dict[str, Any], target_id: UUID) -> Answer:
    """Bring back one of the last sets, checked as if it were new."""
    return _restore(Target("agent", target_id), body["version"])
