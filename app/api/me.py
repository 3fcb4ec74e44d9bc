"""/v1/me"""

from __future__ import annotations

from typing import Any

from app.api.current import principal, reading
from app.api.resource import Resource
from app.api.schemas.identity import MeSchema

blueprint = Resource("me", "Who asks.")


@blueprint.get("/me")
@blueprint.gives(200, MeSchema)
def get_me() -> dict[str, Any]:
    """Tell whom the key acts as."""
    me = principal()
    with reading() as tx:
        user = tx.users.get(me.user_id)
        key = tx.keys.get(me.key_id) if me.key_id else None
        return {"tenant": tx.tenants.current(), "user": user, "role": me.role.value, "key": key}
