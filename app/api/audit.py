"""/v1/audit"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from app.api import paging
from app.api.current import reading
from app.api.resource import Resource
from app.api.schemas.identity import AuditPageSchema, AuditQuery

blueprint = Resource(
    "audit", "Who did what to which target, and when. A member sees its own actions."
)


@blueprint.get("/audit")
@blueprint.asks(AuditQuery)
@blueprint.gives(200, AuditPageSchema)
def list_audit(query: dict[str, Any]) -> dict[str, Any]:
    """List audited actions, newest first."""
    after = paging.position(query, UUID)
    with reading() as tx:
        page = tx.audit.page(after, query["limit"], action=query["action"])
    return paging.body(page, query)
