"""/v1/quota"""

from __future__ import annotations

from typing import Any

from app.api.current import reading, runtime, transaction
from app.api.resource import Resource
from app.api.schemas.quota import QuotaSchema, StandingSchema
from app.domain.quota import Limits, Period, Quota, Standing
from app.services import quota

blueprint = Resource("quota", "What the tenant may use in a period, all its members together.")


@blueprint.get("/quota")
@blueprint.gives(200, StandingSchema)
def get_quota() -> Standing:
    """Read the limits, and what is used, reserved and left."""
    with reading() as tx:
        return quota.show(tx, now=runtime().now())


@blueprint.put("/quota")
@blueprint.takes(QuotaSchema)
@blueprint.gives(200, StandingSchema)
def put_quota(body: dict[str, Any]) -> Standing:
    """Replace the limits. What was used in the period stays used."""
    wanted = Quota(Period(body["period"]), Limits(body["tokens"], body["micro_dollars"]))
    with transaction() as tx:
        return quota.replace(tx, wanted, now=runtime().now())
