"""/v1/keys"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from app.api import paging
from app.api.current import reading, runtime, transaction
from app.api.resource import Resource
from app.api.schemas.identity import KeyCreateSchema, KeyPageSchema, KeySchema, NewKeySchema
from app.api.schemas.pages import PageQuery
from app.domain.keys import ApiKey
from app.services import keys

blueprint = Resource("keys", "API keys. A member manages its own, an admin those of the tenant.")


@blueprint.post("/keys")
@blueprint.takes(KeyCreateSchema)
@blueprint.gives(201, NewKeySchema)
def create_key(body: dict[str, Any]) -> dict[str, Any]:
    """Create a key. Its secret is in this answer and nowhere else, ever."""
    with transaction() as tx:
        stored, secret = keys.create(tx, **body, now=runtime().now())
    return {**KeySchema().dump(stored), "key": secret}


@blueprint.get("/keys")
@blueprint.asks(PageQuery)
@blueprint.gives(200, KeyPageSchema)
def list_keys(query: dict[str, Any]) -> dict[str, Any]:
    """List keys, newest first."""
    after = paging.position(query, UUID)
    with reading() as tx:
        page = tx.keys.page(after, query["limit"])
    return paging.body(page, query)


@blueprint.delete("/keys/<uuid:key_id>")
@blueprint.gives(200, KeySchema)
def revoke_key(key_id: UUID) -> ApiKey:
    """Revoke a key at once. It stays in the list."""
    with transaction() as tx:
        return keys.revoke(tx, key_id)
