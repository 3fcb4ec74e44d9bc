"""/v1/users"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from app.api import idempotency, paging
from app.api.current import reading, transaction
from app.api.resource import Resource
from app.api.schemas.identity import UserChangeSchema, UserCreateSchema, UserPageSchema, UserSchema
from app.api.schemas.pages import PageQuery
from app.domain.users import User
from app.services import users

blueprint = Resource("users", "People in the tenant. For its admins.")


@blueprint.post("/users")
@blueprint.takes(UserCreateSchema)
@blueprint.gives(201, UserSchema)
@blueprint.notes(parameters=[idempotency.HEADER])
def create_user(body: dict[str, Any]) -> User:
    """Create a user. It can do nothing until it has a key."""
    with transaction() as tx:
        return idempotency.once(tx, body, lambda: users.create(tx, **body), tx.users.get)


@blueprint.get("/users")
@blueprint.asks(PageQuery)
@blueprint.gives(200, UserPageSchema)
def list_users(query: dict[str, Any]) -> dict[str, Any]:
    """List the tenant's users, newest first."""
    after = paging.position(query, UUID)
    with reading() as tx:
        page = tx.users.page(after, query["limit"])
    return paging.body(page, query)


@blueprint.get("/users/<uuid:user_id>")
@blueprint.gives(200, UserSchema)
def get_user(user_id: UUID) -> User:
    """Read a user."""
    with reading() as tx:
        return tx.users.get(user_id)


@blueprint.patch("/users/<uuid:user_id>")
@blueprint.takes(UserChangeSchema)
@blueprint.gives(200, UserSchema)
def change_user(body: dict[str, Any], user_id: UUID) -> User:
    """Change a user's role, or shut it out: from then on all its keys are refused."""
    with transaction() as tx:
        return users.change(tx, user_id, **body)
