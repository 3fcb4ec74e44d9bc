"""`hango secrets`, and what tells that stored secrets cannot be opened."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from click.testing import CliRunner, Result

from app.domain.outside import HttpTool
from app.runtime import build_runtime
from app.settings import Secret, Settings
from app.store.transaction import Database
from app.web import create_app
from cli.operate.secrets import reseal, secrets
from tests.store.people import People, an_agent, settle

OLD, NEW, OTHER = (Secret(base64.b64encode(letter * 32).decode()) for letter in (b"o", b"n", b"x"))
NONE = Secret("")
NAMES = ["calendar", "mail", "weather"]

Keys = Callable[..., Database]


@pytest.fixture
def with_keys(settings: Settings, clean_database: None) -> Iterator[Keys]:
    """The same database, by processes that have these keys."""
    opened: list[Database] = []

    def database(key: Secret, old: Secret = NONE) -> Database:
        made = Database(replace(settings, secret_key=key, old_secret_key=old))
        opened.append(made)
        return made

    yield database
    for each in opened:
        each.dispose()


@pytest.fixture
def hango(settings: Settings) -> Callable[..., Result]:
    def run(command: str, key: Secret, old: str = "") -> Result:
        environment = {
            "HANGO_DATABASE_URL": str(settings.database_url),
            "HANGO_REDIS_URL": str(settings.redis_url),
            "HANGO_PROVIDER": "offline",
            "HANGO_SECRET_KEY": str(key),
            "HANGO_OLD_SECRET_KEY": str(old),
        }
        return CliRunner().invoke(secrets, [command], env=environment)

    return run


def store(database: Database, people: People) -> list[object]:
    """Headers of three tools and of a hook; what can be opened afterwards."""
    with database.transaction(people.admin) as tx:
        agent = tx.agents.add(an_agent(people.admin))
        tx.hook_headers.put(agent.id, {"clock": {"authorization": "hook"}})
        for name in NAMES:
            tool = HttpTool(
                name=name,
                description="",
                input_schema={},
                method="GET",
                url="https://a.example",
                header_names=(),
                timeout_seconds=1,
            )
            tx.http_tools.put(tool, {"authorization": name})
    return [{"clock": {"authorization": "hook"}}, *({"authorization": name} for name in NAMES)]


def opened(database: Database, people: People) -> list[object]:
    with database.reading(people.admin) as tx:
        (agent,) = tx.agents.page(None, 10).items
        return [tx.hook_headers.of(agent.id), *(tx.http_tools.headers(name) for name in NAMES)]


def test_after_resealing_the_newest_key_is_enough(
    with_keys: Keys, hango: Callable[..., Result]
) -> None:
    people = settle(with_keys(OLD))
    stored = store(with_keys(OLD), people)

    before = hango("check", NEW, OLD)
    done = [reseal(with_keys(NEW, OLD), batch=3), reseal(with_keys(NEW, OLD), batch=3)]
    after = hango("check", NEW)

    assert (before.exit_code, after.exit_code) == (0, 0)
    assert "0 need HANGO_SECRET_KEY, 4 HANGO_OLD_SECRET_KEY." in before.output
    assert "4 need HANGO_SECRET_KEY, 0 HANGO_OLD_SECRET_KEY." in after.output
    assert done == [(4, 0), (0, 0)]
    assert opened(with_keys(NEW), people) == stored


def test_what_no_key_opens_is_told_and_left_as_it_is(
    with_keys: Keys, hango: Callable[..., Result], settings: Settings
) -> None:
    people = settle(with_keys(OLD))
    stored = store(with_keys(OLD), people)
    made = build_runtime(replace(settings, secret_key=OTHER))

    check, resealed = hango("check", OTHER), hango("reseal", OTHER, str(NEW))
    warnings = create_app(made).test_client().get("/readyz").json["warnings"]
    made.database.dispose()

    assert check.exit_code == resealed.exit_code == 1
    assert "4 need a key that is not set" in check.output
    assert "4 could not be opened" in resealed.output
    assert any("hango secrets check" in each for each in warnings)
    assert opened(with_keys(OLD), people) == stored
