"""The schema goes up and down on data, and is the one that the code declares."""

from __future__ import annotations

import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, NullPool, create_engine, insert, make_url, select, text
from sqlalchemy.exc import ProgrammingError

from app.settings import Secret, Settings
from app.store import migrate
from app.store.migrate import _folder
from app.store.revision import SCHEMA_REVISION
from app.store.tables import metadata
from app.store.transaction import Database
from tests.conftest import Cluster
from tests.store.people import a_message, settle, with_session
from tests.store.rows import good_rows, store, table

BASE = "base"


@pytest.fixture
def admin_url(cluster: Cluster) -> str:
    """An empty database of this test's own."""
    return cluster.create(migrated=False).admin_url


@pytest.fixture
def role(admin_url: str) -> Iterator[str]:
    """A login role that owns nothing yet; gone at the end, with all that it has got."""
    name = f"hango_test_{secrets.token_hex(4)}"
    with connected(admin_url) as connection:
        connection.execute(text(f"CREATE ROLE {name} LOGIN PASSWORD 'secret'"))
    yield name
    with connected(admin_url) as connection:
        connection.execute(text(f"DROP OWNED BY {name} CASCADE"))
        connection.execute(text(f"DROP ROLE {name}"))


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    engine: Engine = create_engine(url, poolclass=NullPool)
    with engine.begin() as connection:
        yield connection


def revisions() -> list[str]:
    """Every revision, from the first to the newest."""
    config = Config()
    config.set_main_option("script_location", str(_folder()))
    return [each.revision for each in ScriptDirectory.from_config(config).walk_revisions()][::-1]


def tables(url: str) -> set[str]:
    with connected(url) as connection:
        return set(
            connection.scalars(text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"))
        )


def test_the_code_needs_the_newest_revision():
    assert revisions()[-1] == SCHEMA_REVISION


def test_the_schema_is_the_one_that_the_code_declares(admin_url):
    migrate.upgrade(admin_url)

    assert migrate.current(admin_url) == SCHEMA_REVISION
    assert migrate.check(admin_url) == []


def test_checks_and_indexes_are_those_that_the_code_declares(cluster):
    migrated, declared = (cluster.create(migrated=False).admin_url for _ in range(2))
    migrate.upgrade(migrated)
    with connected(declared) as connection:
        metadata.create_all(connection)

    assert rules(migrated) == rules(declared)


def test_a_difference_is_told(admin_url):
    migrate.upgrade(admin_url)
    with connected(admin_url) as connection:
        connection.execute(text("ALTER TABLE todos DROP COLUMN content"))

    assert [each for each in migrate.check(admin_url) if "todos" in each and "content" in each]


def test_down_to_nothing_and_up_again(admin_url):
    migrate.upgrade(admin_url)
    with connected(admin_url) as connection:
        store(connection, good_rows())

    migrate.downgrade(admin_url, BASE)

    assert tables(admin_url) == {"alembic_version"}
    with connected(admin_url) as connection:
        assert connection.scalar(text("SELECT count(*) FROM pg_proc WHERE proname ~ 'refuse'")) == 0

    migrate.upgrade(admin_url)

    assert migrate.check(admin_url) == []


@pytest.mark.parametrize("revision", revisions())
def test_each_step_goes_up_and_down_on_data(admin_url, revision):
    before = [BASE, *revisions()][revisions().index(revision)]
    if before != BASE:
        migrate.upgrade(admin_url, revision=before)
    rows = {name: row for name, row in good_rows().items() if name in tables(admin_url)}
    with connected(admin_url) as connection:
        store(connection, rows)

    migrate.upgrade(admin_url, revision=revision)
    new = good_rows()
    with connected(admin_url) as connection:
        store(connection, {name: row for name, row in new.items() if name in tables(admin_url)})
    migrate.downgrade(admin_url, before)

    assert migrate.current(admin_url) == (None if before == BASE else before)
    with connected(admin_url) as connection:
        for name, row in rows.items():
            # By the key alone: later columns are not there.
            key = table(name).primary_key
            same = select(*key).where(*(column == row[column.name] for column in key))
            assert connection.execute(same).first() is not None, name


@pytest.mark.processes
def test_upgrades_at_the_same_time_take_turns(admin_url):
    # In processes, as they are started: alembic keeps what it works on in the process.
    code = "import sys; from app.store import migrate; migrate.upgrade(sys.argv[1])"
    started = [subprocess.Popen([sys.executable, "-c", code, admin_url]) for _ in range(3)]

    assert [process.wait(timeout=60) for process in started] == [0, 0, 0]
    assert migrate.current(admin_url) == SCHEMA_REVISION
    assert migrate.check(admin_url) == []


def test_a_role_that_does_not_exist_is_no_hindrance(admin_url):
    migrate.upgrade(admin_url, "nobody_of_this_name")

    assert migrate.check(admin_url) == []


def test_a_new_role_gets_its_rights_with_the_next_upgrade(admin_url, role):
    migrate.upgrade(admin_url)

    migrate.upgrade(admin_url, role)

    with connected(admin_url) as connection:
        assert connection.scalar(
            text("SELECT has_table_privilege(:role, 'sessions', 'DELETE')"), {"role": role}
        )
        assert not connection.scalar(
            text("SELECT has_table_privilege(:role, 'audit_events', 'DELETE')"), {"role": role}
        )


def test_one_role_can_do_all_and_is_still_held_to_its_tenant(admin_url, role, settings):
    with connected(admin_url) as connection:
        connection.execute(text(f"ALTER SCHEMA public OWNER TO {role}"))
    url = make_url(admin_url).set(username=role, password="secret")
    own_url = url.render_as_string(hide_password=False)

    migrate.upgrade(own_url, role)

    with connected(own_url) as connection:
        assert connection.scalar(text("SELECT count(*) FROM tenants")) == 0
        with pytest.raises(ProgrammingError, match="row-level security"), connection.begin_nested():
            connection.execute(insert(table("tenants")).values(good_rows()["tenants"]))
    use(own_url, settings)


def use(url: str, settings: Settings) -> None:
    """Let the store work there: people, and a session that goes with all its rows."""
    database = Database(replace(settings, database_url=Secret(url)))
    people = settle(database)
    session = with_session(database, people.alice)
    with database.transaction(people.alice) as tx:
        tx.messages.append(session.id, [a_message()])
        tx.sessions.delete(session.id)
    database.dispose()


def rules(url: str) -> list[tuple[str, str, str]]:
    """Constraints and indexes, as PostgreSQL writes them down."""
    with connected(url) as connection:
        found = connection.execute(
            text(
                "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)"
                "  FROM pg_constraint WHERE connamespace = 'public'::regnamespace"
                " UNION ALL SELECT tablename, indexname, indexdef"
                "  FROM pg_indexes WHERE schemaname = 'public'"
            )
        )
        return sorted(tuple(row) for row in found if row[0] != "alembic_version")
