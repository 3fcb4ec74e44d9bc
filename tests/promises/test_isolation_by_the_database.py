"""Promise 6, the second wall: the database itself keeps tenants apart.

By SQL, as the role that serves requests: row-level security, foreign keys that carry the tenant,
and rights that leave what must stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import (
    Connection,
    Engine,
    ForeignKeyConstraint,
    NullPool,
    create_engine,
    func,
    insert,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError, IntegrityError

from app.domain.ids import new_id
from app.store.tables import metadata
from app.store.transaction import Database
from cli.operate.embedded.postgres import PostgresUrls
from tests.store.people import settle
from tests.store.rows import good_rows, store, table

TENANT_TABLES = sorted(
    each.name for each in metadata.tables.values() if "tenant_id" in each.columns
)

# What to change in a row so that it can be there a second time.
_ELSEWHERE: dict[str, dict[str, Any]] = {
    "api_keys": {"public_id": "abcdefghijkl"},
    "web_sessions": {"token_hash": b"1" * 32},
    "runs": {"status": "cancelled", "finished_at": "2100-01-01T00:00:00+00:00"},
    "imports": {"fingerprint": "1" * 64},
    "checkpoints": {"version": 2},
    "usage_records": {"call": 2},
    "context_overrides": {"part": "tool:ls"},
    "override_sets": {"version": 2},
}


@pytest.fixture(scope="module")
def owner(postgres_urls: PostgresUrls) -> Iterator[Engine]:
    made = create_engine(postgres_urls.admin_url, poolclass=NullPool)
    yield made
    made.dispose()


@pytest.fixture(scope="module")
def served(postgres_urls: PostgresUrls) -> Iterator[Engine]:
    """As the role that serves requests."""
    made = create_engine(postgres_urls.app_url, poolclass=NullPool)
    yield made
    made.dispose()


@pytest.fixture
def theirs(clean_database: None, owner: Engine) -> dict[str, Any]:
    """A row in every table, all of one tenant."""
    rows = good_rows()
    with owner.begin() as connection:
        store(connection, rows)
    return rows


@pytest.fixture
def stranger(theirs: dict[str, Any], owner: Engine, served: Engine) -> Iterator[Connection]:
    """A transaction of the serving role for another tenant, which has all rows of its own too."""
    mine = good_rows()
    with owner.begin() as connection:
        store(connection, mine)
    with served.connect() as connection, connection.begin() as begun:
        be(connection, mine["tenants"]["id"])
        connection.info["rows"] = mine
        yield connection
        begun.rollback()


def be(connection: Connection, tenant_id: Any) -> None:
    connection.execute(select(func.set_config("hango.tenant", str(tenant_id), True)))


def test_the_serving_role_is_no_superuser_and_owns_nothing(served):
    with served.connect() as connection:
        trusted, owned = connection.execute(
            text(
                "SELECT rolsuper OR rolbypassrls OR rolcreaterole, EXISTS ("
                " SELECT FROM pg_class WHERE relowner = pg_roles.oid)"
                " FROM pg_roles WHERE rolname = current_user"
            )
        ).one()

    assert (trusted, owned) == (False, False)


def test_every_table_of_a_tenant_has_forced_row_security(owner):
    with owner.connect() as connection:
        found = connection.execute(
            text(
                "SELECT relname FROM pg_class WHERE relrowsecurity AND relforcerowsecurity"
                " AND EXISTS (SELECT FROM pg_policy WHERE polrelid = pg_class.oid)"
            )
        ).scalars()

        assert {*found} == {"tenants", *TENANT_TABLES}


@pytest.mark.parametrize("name", ["tenants", *TENANT_TABLES])
def test_without_a_tenant_there_is_no_row(theirs, served, name):
    with served.connect() as connection:
        assert count(connection, name) == 0


def test_a_connection_that_had_a_tenant_has_none_in_its_next_transaction(theirs, served):
    with served.connect() as connection:
        with connection.begin():
            be(connection, theirs["tenants"]["id"])
            assert count(connection, "sessions") == 1

        assert count(connection, "sessions") == 0


@pytest.mark.parametrize("name", ["tenants", *TENANT_TABLES])
def test_each_tenant_sees_its_rows_alone(stranger, name):
    key = "id" if name == "tenants" else "tenant_id"
    mine = stranger.info["rows"]["tenants"]["id"]

    assert list(stranger.scalars(select(table(name).c[key]))) == [mine]


@pytest.mark.parametrize("name", ["tenants", *TENANT_TABLES])
def test_a_row_of_another_tenant_cannot_be_added(stranger, name):
    with pytest.raises(DBAPIError) as refused:
        stranger.execute(insert(table(name)).values(good_rows()[name]))

    assert refused.value.orig.pgcode == "42501"
    assert "row-level security" in str(refused.value.orig)


@pytest.mark.parametrize("name", ["tenants", *TENANT_TABLES])
def test_rows_of_another_tenant_cannot_be_changed_or_removed(stranger, theirs, name):
    key = "id" if name == "tenants" else "tenant_id"
    where = {"tenant": theirs["tenants"]["id"]}
    column = "tokens" if name == "messages" else key

    for statement in (
        f"UPDATE {name} SET {column} = {column} WHERE {key} = :tenant",
        f"DELETE FROM {name} WHERE {key} = :tenant",
    ):
        with stranger.begin_nested():
            assert permitted(stranger, statement, where) in (0, None)


def foreign_keys() -> list[tuple[str, str]]:
    """Every reference to a row of the same tenant: its table and its column."""
    return sorted(
        (each.name, rule.column_keys[1])
        for each in metadata.sorted_tables
        for rule in each.constraints
        if isinstance(rule, ForeignKeyConstraint) and len(rule.column_keys) == 2
    )


@pytest.mark.parametrize(("name", "column"), foreign_keys())
def test_no_row_can_point_into_another_tenant(stranger, theirs, name, column):
    mine = stranger.info["rows"]
    target = next(
        rule.referred_table.name
        for rule in table(name).constraints
        if isinstance(rule, ForeignKeyConstraint) and rule.column_keys[-1] == column
    )
    row = fresh(name, mine[name]) | {column: theirs[target]["id"]}
    if column == "session_id" and name in ("context_overrides", "override_sets"):
        row |= {"agent_id": None} | ({"part": "summary"} if "part" in row else {})
    if column == "parent_run_id":
        row |= {"parent_tool_use_id": "toolu_1"}

    with pytest.raises(IntegrityError) as refused:
        stranger.execute(insert(table(name)).values(row))

    assert refused.value.orig.pgcode == "23503"
    assert column in refused.value.orig.diag.constraint_name


def test_every_reference_carries_its_tenant():
    alone = [
        rule.name
        for each in metadata.tables.values()
        for rule in each.constraints
        if isinstance(rule, ForeignKeyConstraint) and rule.column_keys[0] != "tenant_id"
    ]

    assert alone == []


def test_no_duplicate_error_tells_what_another_tenant_has():
    unique = {
        str(rule.name): next(column.name for column in rule.columns)
        for each in metadata.tables.values()
        if each.name != "tenants"
        for rule in [
            each.primary_key,
            *(found for found in each.constraints if type(found).__name__ == "UniqueConstraint"),
            *(found for found in each.indexes if found.unique),
        ]
    }

    # Both are random, and looked up before anybody knows the tenant.
    assert unique.pop("uq_api_keys_public_id") == "public_id"
    assert unique.pop("uq_web_sessions_token_hash") == "token_hash"
    assert set(unique.values()) == {"tenant_id"}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_events SET outcome = 'refused'",
        "DELETE FROM audit_events",
        "TRUNCATE audit_events",
        "UPDATE messages SET content = '[]'",
        "UPDATE messages SET seq = 7",
        "DELETE FROM messages",
        "DELETE FROM tenants",
        "DELETE FROM users",
        "DELETE FROM usage_records",
        "ALTER TABLE messages DISABLE ROW LEVEL SECURITY",
        "DROP POLICY tenant ON messages",
        "ALTER TABLE audit_events DISABLE TRIGGER append_only",
        "CREATE TABLE mine (id int)",
    ],
)
def test_the_serving_role_cannot_rewrite_what_must_stay(stranger, statement):
    with pytest.raises(DBAPIError) as refused:
        stranger.execute(text(statement))

    assert refused.value.orig.pgcode == "42501"
    assert "append-only" not in str(refused.value.orig)  # not by the trigger, but by its rights


@pytest.mark.parametrize(
    "statement",
    ["UPDATE audit_events SET outcome = 'refused'", "DELETE FROM audit_events"],
)
def test_not_even_the_owner_changes_the_audit(theirs, owner, statement):
    with owner.connect() as connection, pytest.raises(DBAPIError) as refused:
        connection.execute(text(statement))

    assert "append-only" in str(refused.value.orig)


def test_only_the_system_sees_across_tenants(database: Database, served: Engine) -> None:
    settle(database)
    with database.system() as tx:
        assert len(tx.tenants.all()) == 2
    with served.connect() as connection:
        assert count(connection, "tenants") == 0


def count(connection: Connection, name: str) -> int:
    return int(connection.scalar(select(func.count()).select_from(table(name))) or 0)


def permitted(connection: Connection, statement: str, values: dict[str, Any]) -> int | None:
    """How many rows it changed; None where the role may not do it at all."""
    try:
        with connection.begin_nested():
            return connection.execute(text(statement), values).rowcount
    except DBAPIError as error:
        if getattr(error.orig, "pgcode", None) != "42501":
            raise
        return None


def fresh(name: str, row: dict[str, Any]) -> dict[str, Any]:
    """The row again, so that no unique key is in the way."""
    changes: dict[str, Any] = {"id": new_id()} if "id" in row else {}
    return row | changes | _ELSEWHERE.get(name, {})
