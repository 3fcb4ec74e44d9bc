from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from app.domain.keys import parse
from app.domain.principals import Role
from app.settings import Secret, Settings
from app.store.transaction import Database
from cli.operate.admin import bootstrap
from cli.operate.embedded.postgres import PostgresUrls
from tests.conftest import Cluster
from tests.operate.processes import CODE

Hango = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def urls(cluster: Cluster) -> PostgresUrls:
    return cluster.create(migrated=False)


@pytest.fixture
def hango(urls: PostgresUrls) -> Hango:
    """Run a hango command beside an empty database."""
    environment = {
        "PYTHONPATH": str(CODE),
        "HANGO_DATABASE_URL": urls.app_url,
        "HANGO_ADMIN_DATABASE_URL": urls.admin_url,
        "HANGO_REDIS_URL": "redis://127.0.0.1:1/0",
    }

    def run(*arguments: str, **changed: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "cli", *arguments],
            capture_output=True,
            text=True,
            env=environment | changed,
            check=False,
        )

    return run


def test_the_schema_goes_up_and_down(hango: Hango) -> None:
    before = hango("db", "check")
    up = hango("db", "upgrade")
    after = hango("db", "check")
    down = hango("db", "downgrade", "base")

    assert (before.returncode, after.returncode) == (1, 0)
    assert "hango db upgrade" in before.stderr
    assert "up to date" in after.stdout
    assert up.returncode == down.returncode == 0
    assert "base" in down.stdout


def test_an_unknown_revision_is_one_line(hango: Hango) -> None:
    refused = hango("db", "upgrade", "nonesuch")

    assert refused.returncode == 1
    assert len(refused.stderr.strip().splitlines()) == 1
    assert "nonesuch" in refused.stderr


def test_a_database_that_does_not_answer_is_one_line_without_its_password(hango: Hango) -> None:
    nowhere = "postgresql://hango:pass-word@127.0.0.1:1/hango"

    refused = hango("db", "check", HANGO_ADMIN_DATABASE_URL=nowhere)

    assert refused.returncode == 1
    assert len(refused.stderr.strip().splitlines()) == 1
    assert "pass-word" not in refused.stderr


@pytest.mark.parametrize("wrong", ["", "host/database", "mysql://hango:pass-word@host/hango"])
def test_a_setting_that_is_wrong_is_named_and_not_shown(hango: Hango, wrong: str) -> None:
    refused = hango("admin", "bootstrap", HANGO_DATABASE_URL=wrong)

    assert refused.returncode == 1
    assert "HANGO_DATABASE_URL: Not a PostgreSQL URL" in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1
    assert "pass-word" not in refused.stderr


def test_the_first_key_is_an_admins(hango: Hango, urls: PostgresUrls) -> None:
    hango("db", "upgrade")
    made = hango("admin", "bootstrap")

    presented = parse(made.stdout.strip())
    assert presented is not None
    database = Database(
        Settings(database_url=Secret(urls.app_url), redis_url=Secret("redis://127.0.0.1:1/0"))
    )
    principal = database.authenticate(presented)
    database.dispose()
    assert principal is not None
    assert principal.role is Role.ADMIN


def test_bootstrapping_again_adds_a_key_and_nothing_else(database: Database) -> None:
    first = bootstrap(database, "first")
    again = bootstrap(database, "again")

    with database.system() as tx:
        assert [tenant.name for tenant in tx.tenants.all()] == ["default"]
    keys = [parse(made.key) for made in (first, again)]
    users = [database.authenticate(key) for key in keys if key]
    assert users[0] is not None
    assert users[1] is not None
    assert users[0].user_id == users[1].user_id
    assert (first.first, again.first) == (True, False)


def test_what_is_bootstrapped_is_audited(database: Database) -> None:
    made = bootstrap(database, "first")

    presented = parse(made.key)
    assert presented is not None
    principal = database.authenticate(presented)
    assert principal is not None
    with database.reading(principal) as tx:
        actions = {event.action for event in tx.audit.page(None, 10).items}
    assert actions == {"tenant.create", "user.create", "key.create"}
