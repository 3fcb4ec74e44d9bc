"""/v1/tenant"""

from __future__ import annotations

from typing import Any

from app.api.current import reading, transaction
from app.api.resource import Resource
from app.api.schemas.identity import TenantChangeSchema, TenantSettingsSchema
from app.domain.tenants import Tenant
from app.services import tenants

blueprint = Resource("tenant", "The isolated account that everybody here belongs to.")


@blueprint.get("/tenant")
@blueprint.gives(200, TenantSettingsSchema)
def get_tenant() -> Tenant:
    """Read the tenant, and whether content may stand on spans."""
    with reading() as tx:
        return tx.tenants.current()


@blueprint.patch("/tenant")
@blueprint.takes(TenantChangeSchema)
@blueprint.gives(200, TenantSettingsSchema)
def change_tenant(body: dict[str, Any]) -> Tenant:
    """Let the requests and answers of model calls stand on their spans, or not. For admins."""
    with transaction() as tx:
        return tenants.change(tx, **body)
