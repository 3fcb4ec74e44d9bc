"""Users."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from app.domain.pages import Page
from app.domain.principals import Role
from app.domain.users import User
from app.errors import NameTaken, NotFound
from app.store.repository import Repository, breaks, page_by_id
from app.store.tables import users


class Users(Repository):
    """The users of an admin's tenant; for a member, itself."""

    def get(self, user_id: UUID) -> User:
        """Raises NotFound."""
        return _user(self._one(select(users).where(self._scope.user(), users.c.id == user_id)))

    def add(self, user: User) -> User:
        """Store a new user of the tenant.

        Raises:
            NameTaken
            NotFound: the principal is no admin.
        """
        if not self._scope.principal.is_admin:
            raise NotFound
        return _add(self._connection, user, self._scope.tenant_id)

    def update(
        self, user_id: UUID, *, role: Role | None = None, disabled: bool | None = None
    ) -> User:
        """Change a role, or shut a user out and let it in again; None leaves as it is.

        Raises NotFound, also when the principal is no admin.
        """
        if not self._scope.principal.is_admin:
            raise NotFound
        changes: dict[str, Any] = {} if role is None else {"role": role}
        if disabled is not None:
            since = func.coalesce(users.c.disabled_at, func.now())
            changes["disabled_at"] = since if disabled else None
        mine = (self._scope.user(), users.c.id == user_id)
        if not changes:
            return self.get(user_id)
        return _user(self._one(update(users).where(*mine).values(changes).returning(users)))

    def page(self, after: UUID | None, limit: int) -> Page[User]:
        """Users, newest first."""
        found = select(users).where(self._scope.user())
        if after is not None:
            found = found.where(users.c.id < after)
        rows = self._rows(found.order_by(users.c.id.desc()).limit(limit + 1))
        return page_by_id(rows, limit, _user)


class AllUsers:
    """The users of every tenant, for `hango admin`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, user: User) -> User:
        """Store a new user. Raises NameTaken."""
        return _add(self._connection, user, user.tenant_id)

    def find(self, tenant_id: UUID, name: str) -> User | None:
        """The user of this name."""
        named = select(users).where(users.c.tenant_id == tenant_id, users.c.name == name)
        row = self._connection.execute(named).first()
        return None if row is None else _user(row)


def _add(connection: Connection, user: User, tenant_id: UUID) -> User:
    values = {"tenant_id": tenant_id, "id": user.id, "name": user.name, "role": user.role}
    try:
        row = connection.execute(insert(users).values(values).returning(users)).one()
    except IntegrityError as error:
        if breaks(error, "uq_users_tenant_id_name"):
            raise NameTaken("Another user of this tenant has this name.") from None
        raise
    return _user(row)


def _user(row: Row[Any]) -> User:
    return User(**{**row._mapping, "role": Role(row.role)})
