"""Usage, quota, keys and users from the command line, against hango itself."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import NullPool, create_engine, insert

from app.domain.ids import new_id
from app.domain.quota import Amount
from app.services import quota
from app.settings import Settings
from app.store.tables import usage_records
from app.store.transaction import Database
from cli.money import dollars
from cli.operate.embedded.postgres import PostgresUrls
from tests.cli.conftest import Site
from tests.cli.shell import Canned, Result

Asks = Callable[..., Result]

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def call(site: Site, postgres_urls: PostgresUrls) -> Callable[..., None]:
    """Put a call of Ann's on record."""

    def record(**figures: Any) -> None:
        row = {
            "tenant_id": site.ann.principal.tenant_id,
            "id": new_id(),
            "user_id": site.ann.principal.user_id,
            "purpose": "turn",
            "provider": "anthropic",
            "model": "claude-opus-5-5",
            "outcome": "succeeded",
            "input_tokens": 7,
            "cache_read_tokens": 9_000,
            "cache_write_tokens": 1_000,
            "output_tokens": 5,
            "cost_micro_dollars": 6_928,
            "price_version": "test",
            "created_at": NOW.isoformat(),
        }
        engine = create_engine(postgres_urls.admin_url, poolclass=NullPool)
        with engine.begin() as connection:
            connection.execute(insert(usage_records).values(row | figures))

    return record


def made(result: Result) -> Any:
    assert (result.code, result.err) == (0, "")
    return result.json


def words(result: Result) -> list[list[str]]:
    return [line.split() for line in result.out.splitlines()]


@pytest.mark.parametrize(
    ("micro_dollars", "shown"),
    [(0, "0.000000"), (6_928, "0.006928"), (1_234_567_890_000, "1,234,567.890000")],
)
def test_no_part_of_a_dollar_is_lost(micro_dollars: int, shown: str) -> None:
    assert dollars(micro_dollars) == shown


def test_usage_is_a_table_with_its_sum(on_site: Asks, call: Callable[..., None]) -> None:
    call()
    call(model="claude-haiku-5-5", cost_micro_dollars=1_000_000)

    result = on_site("usage")

    assert (result.code, result.err) == (0, "")
    assert words(result)[1:] == [
        ["claude-haiku-5-5", "1", "10,007", "9,000", "1,000", "5", "1.000000"],
        ["claude-opus-5-5", "1", "10,007", "9,000", "1,000", "5", "0.006928"],
        ["total", "2", "20,014", "18,000", "2,000", "10", "1.006928"],
    ]


def test_usage_of_a_span(on_site: Asks, call: Callable[..., None]) -> None:
    call()
    call(created_at=(NOW + timedelta(days=1)).isoformat())

    report = made(
        on_site(
            "usage", "--group-by", "day", "--from", "2026-11-30", "--to", "2026-11-30", "--json"
        )
    )

    assert [(row["key"], row["calls"]) for row in report["items"]] == [("2026-11-30", 1)]


def test_a_price_that_is_not_known_is_told(on_site: Asks, call: Callable[..., None]) -> None:
    call(cost_micro_dollars=None, price_version=None)

    assert on_site("usage").err == "The price of 1 calls is not known: it is in no sum.\n"


def test_usage_by_agent_names_it(on_site: Asks, call: Callable[..., None]) -> None:
    agent = made(on_site("agents", "create", "--name", "helper", "--json"))["id"]
    call(agent_id=agent)
    call(agent_id=None)

    shown = on_site("usage", "--group-by", "agent").out

    assert f"{agent} helper" in shown
    assert "deleted agents" in shown


def test_usage_as_csv_goes_to_a_spreadsheet_as_it_came(
    on_site: Asks, call: Callable[..., None]
) -> None:
    call(model="=1+1")

    result = on_site("usage", "--csv")

    (row,) = csv.DictReader(io.StringIO(result.out))
    assert (row["model"], row["whole_input_tokens"]) == ("'=1+1", "10007")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("usage", "--csv", "--json"), "not both"),
        (("usage", "--group-by", "user"), "--group-by"),
        (("usage", "--from", "yesterday"), "from: Give a day"),
        (("quota", "set"), "Give --tokens, --dollars or --period"),
        (("quota", "set", "--tokens", "many"), "'many' is no amount"),
        (("quota", "set", "--tokens", "1.5"), "'1.5' is no amount"),
        (("quota", "set", "--tokens=-1"), "'-1' is no amount"),
        (("quota", "set", "--dollars", "NaN"), "'NaN' is no amount"),
        (("quota", "set", "--dollars", "0.0000001"), "'0.0000001' is no amount"),
        (("keys", "revoke", "0199f3a2-0000-7000-8000-000000000000"), "Add --yes"),
        (("users", "create", "--name", "zoe", "--role", "owner"), "--role"),
    ],
)
def test_what_cannot_be_taken_is_one_line(
    on_site: Asks, arguments: tuple[str, ...], said: str
) -> None:
    result = on_site(*arguments)

    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert result.err.count("\n") == 1


def test_an_answer_that_is_no_csv_is_a_failure(server: Canned, asks: Asks) -> None:
    server.answers_json({"items": []})

    result = asks("usage", "--csv")

    assert (result.code, result.out) == (1, "")
    assert "no CSV" in result.err


def test_a_quota_is_set_and_shown(on_site: Asks, site: Site, settings: Settings) -> None:
    database = Database(settings)
    with database.transaction(site.ann.principal) as tx:
        now = datetime.now(UTC)
        held = quota.reserve(tx, new_id(), Amount(1_500, 6_928), now=now, lease=timedelta(hours=1))
        quota.settle(tx, held.id, held.amount, now=now)
        quota.reserve(tx, new_id(), Amount(500, 72), now=now, lease=timedelta(hours=1))
    database.dispose()

    on_site("quota", "set", "--tokens", "10000")
    result = on_site("quota", "set", "--dollars", "0.5", "--period", "day")

    assert (result.code, result.err) == (0, "")
    assert result.out == on_site("quota", "show").out
    shown = words(result)
    assert shown[0] == ["period", "day"]
    assert shown[-2:] == [
        ["tokens", "10,000", "1,500", "500", "8,000"],
        ["US", "dollars", "0.500000", "0.006928", "0.000072", "0.493000"],
    ]


def test_a_limit_is_lifted(on_site: Asks) -> None:
    on_site("quota", "set", "--tokens", "0", "--dollars", "5")

    standing = made(on_site("quota", "set", "--tokens", "unlimited", "--json"))

    assert standing["limits"] == {"tokens": None, "micro_dollars": 5_000_000}
    assert ["tokens", "unlimited", "0", "0", "unlimited"] in words(on_site("quota", "show"))


def test_a_quota_that_is_used_up_has_an_exit_code_of_its_own(server: Canned, asks: Asks) -> None:
    detail = "The quota leaves too little for this call until 2026-12-01T00:00:00Z."
    server.answers_json({"code": "quota_exceeded", "detail": detail}, status=402)

    result = asks("sessions", "list")

    assert (result.code, result.out) == (4, "")
    assert result.err.startswith(f"hango: {detail} Ask an admin of your tenant")


def test_a_key_is_made_used_listed_and_revoked(on_site: Asks) -> None:
    shown = on_site("keys", "create", "--name", "laptop")
    key = words(shown)[-1][-1]
    (key_id,) = (line[-1] for line in words(shown) if line[0] == "id")

    works = on_site("keys", "list", "--key", key)
    revoked = on_site("keys", "revoke", key_id, "--yes")
    fails = on_site("keys", "list", "--key", key)

    assert shown.err == "The key is shown this once: keep it where nobody else reads it.\n"
    assert (works.code, revoked.code, fails.code) == (0, 0, 3)
    assert revoked.out == f"Revoked key {key_id}.\n"
    assert key.rpartition("_")[0] in works.out
    assert key not in on_site("keys", "list").out


def test_a_key_expires_and_belongs_to_somebody(on_site: Asks) -> None:
    user = made(on_site("users", "create", "--name", "zoe", "--json"))["id"]
    given = ("--name", "trial", "--user", user, "--expires", "2999-01-01T00:00:00Z")

    key = made(on_site("keys", "create", *given, "--json"))

    assert key["user_id"] == user
    assert key["expires_at"].startswith("2999-01-01")


def test_a_user_is_made_shut_out_and_let_in_again(on_site: Asks) -> None:
    user = made(on_site("users", "create", "--name", "zoe", "--json"))
    key = made(on_site("keys", "create", "--name", "k", "--user", user["id"], "--json"))["key"]

    out = on_site("users", "disable", user["id"])
    refused = on_site("agents", "list", "--key", key)
    back = made(on_site("users", "disable", user["id"], "--undo", "--json"))

    assert user["role"] == "member"
    assert (out.code, refused.code) == (0, 3)
    assert back["disabled_at"] is None
    assert on_site("agents", "list", "--key", key).code == 0
    assert {"ann", "zoe"} <= {line[1] for line in words(on_site("users", "list"))}


def test_nobody_shuts_itself_out(on_site: Asks, site: Site) -> None:
    result = on_site("users", "disable", str(site.ann.principal.user_id))

    assert (result.code, result.out) == (1, "")
    assert "Ask another admin" in result.err
