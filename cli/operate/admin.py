"""`hango admin`: the first tenant, admin and key, made beside the server."""

from __future__ import annotations

from dataclasses import dataclass

import click

from app.domain import keys
from app.domain.audit import Action
from app.domain.ids import new_id
from app.domain.keys import ApiKey
from app.domain.principals import Role
from app.domain.tenants import Tenant
from app.domain.users import User
from app.settings import Settings
from app.store.transaction import Database, SystemTransaction
from cli.operate.db import told_in_one_line

TENANT = "default"
ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Bootstrapped:
    """A new key, and whether the tenant was made for it."""

    key: str
    first: bool


def bootstrap(database: Database, key_name: str) -> Bootstrapped:
    """Make the first tenant and its admin unless they are there, and a new key for the admin.

    Raises:
        DatabaseUnavailable: PostgreSQL does not answer, or not in time.
    """
    with database.system() as tx:
        tenant = next((each for each in tx.tenants.all() if each.name == TENANT), None)
        found = tenant or _add_tenant(tx)
        user = tx.users.find(found.id, ADMIN) or _add_admin(tx, found)
        return Bootstrapped(_add_key(tx, user, key_name), first=tenant is None)


@click.group()
def admin() -> None:
    """Look after tenants, users and keys, on the machine of the server."""


@admin.command("bootstrap")
@click.option("--key-name", default="bootstrap", show_default=True, help="What to call the key.")
def bootstrap_command(key_name: str) -> None:
    """Make the first tenant and admin unless they are there, and print a new key."""
    with told_in_one_line():
        database = Database(Settings.from_environment(), application_name="hango-admin")
        click.echo(bootstrap(database, key_name).key)


def _add_tenant(tx: SystemTransaction) -> Tenant:
    tenant = tx.tenants.add(
        Tenant(id=new_id(), name=TENANT, trace_llm_content=False, created_at="")
    )
    tx.audit.add(tenant.id, Action.TENANT_CREATE, "tenant", tenant.id, {})
    return tenant


def _add_admin(tx: SystemTransaction, tenant: Tenant) -> User:
    user = tx.users.add(
        User(
            id=new_id(),
            tenant_id=tenant.id,
            name=ADMIN,
            role=Role.ADMIN,
            created_at="",
            disabled_at=None,
        )
    )
    tx.audit.add(tenant.id, Action.USER_CREATE, "user", user.id, {"role": Role.ADMIN})
    return user


def _add_key(tx: SystemTransaction, user: User, name: str) -> str:
    minted = keys.mint()
    key = tx.keys.add(
        ApiKey(
            id=new_id(),
            tenant_id=user.tenant_id,
            user_id=user.id,
            public_id=minted.public_id,
            name=name,
            created_by=None,
            created_at="",
            last_used_at=None,
            expires_at=None,
            revoked_at=None,
        ),
        minted.hash,
    )
    tx.audit.add(user.tenant_id, Action.KEY_CREATE, "key", key.id, {"user_id": str(user.id)})
    return minted.text
