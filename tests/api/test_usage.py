"""What calls used, summed up over HTTP: by whom, in which form, from when to when."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, NullPool, create_engine, event, insert

from app.api import spreadsheets
from app.domain.ids import new_id
from app.runtime import Runtime
from app.services import usage
from app.store.tables import usage_records
from cli.operate.embedded.postgres import PostgresUrls
from tests.api.problems import assert_problem, codes
from tests.factories import Caller, make_agent

FIGURES = (
    "calls", "input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens",
    "whole_input_tokens", "cost_micro_dollars", "unpriced_calls",
)  # fmt: skip

Call = Callable[..., None]


@pytest.fixture
def owner(postgres_urls: PostgresUrls) -> Iterator[Engine]:
    made = create_engine(postgres_urls.admin_url, poolclass=NullPool)
    yield made
    made.dispose()


@pytest.fixture
def call(owner: Engine) -> Call:
    """Put a call on record, as if a worker had made it."""

    def record(caller: Caller, **figures: Any) -> None:
        row = {
            "tenant_id": caller.principal.tenant_id,
            "id": new_id(),
            "user_id": caller.principal.user_id,
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
        }
        with owner.begin() as connection:
            connection.execute(insert(usage_records).values(row | figures))

    return record


def figures(row: dict[str, Any]) -> tuple[int, ...]:
    return tuple(row[name] for name in FIGURES)


def rows(caller: Caller, query: str) -> dict[str | None, tuple[int, ...]]:
    reply = caller.get(f"/v1/usage?{query}")
    assert reply.status_code == 200, reply.text
    return {row["key"]: figures(row) for row in reply.json["items"]}


def test_cached_tokens_are_in_the_whole_input(member: Caller, call: Call) -> None:
    call(member)
    call(member, purpose="context_try", try_id=new_id())

    assert rows(member, "group_by=purpose") == {
        "turn": (1, 7, 9_000, 1_000, 5, 10_007, 6_928, 0),
        "context_try": (1, 7, 9_000, 1_000, 5, 10_007, 6_928, 0),
    }
    total = member.get("/v1/usage").json["total"]
    assert figures(total) == (2, 14, 18_000, 2_000, 10, 20_014, 13_856, 0)


def test_nothing_used_is_an_empty_answer(member: Caller) -> None:
    reply = member.get("/v1/usage")

    assert (reply.json["group_by"], reply.json["items"]) == ("model", [])
    assert set(figures(reply.json["total"])) == {0}


def test_what_is_not_known_adds_nothing_and_is_told(member: Caller, call: Call) -> None:
    unknown = dict.fromkeys(FIGURES[1:5])
    call(member, **unknown, outcome="unknown", cost_micro_dollars=None, price_version=None)

    assert rows(member, "") == {"claude-opus-5-5": (1, 0, 0, 0, 0, 0, 0, 1)}


def test_a_member_sees_its_own_and_an_admin_what_all_used(
    admin: Caller, member: Caller, other_member: Caller, stranger: Caller, call: Call
) -> None:
    call(member)
    call(other_member, output_tokens=50)
    call(stranger, output_tokens=500)

    seen = {
        caller: [row[4] for row in rows(caller, "").values()]
        for caller in (member, other_member, admin, stranger)
    }

    assert seen == {member: [5], other_member: [50], admin: [55], stranger: [500]}


def test_models_are_listed_by_what_they_cost(member: Caller, call: Call) -> None:
    call(member, model="cheap", cost_micro_dollars=1)
    call(member, model="dear", cost_micro_dollars=9)

    assert list(rows(member, "group_by=model")) == ["dear", "cheap"]


def test_agents_have_their_names_where_one_may_read_them(
    admin: Caller, member: Caller, owner: Engine, call: Call
) -> None:
    mine, theirs = make_agent(member, name="Mine"), make_agent(admin, name="Theirs")
    for agent in (mine, theirs):
        call(member, agent_id=UUID(agent))
    call(member, agent_id=None)

    items = member.get("/v1/usage?group_by=agent").json["items"]

    assert {(row["key"], row["name"]) for row in items} == {
        (mine, "Mine"), (theirs, None), (None, None),
    }  # fmt: skip
    assert [row["calls"] for row in items] == [1, 1, 1]


def test_days_are_those_of_utc_in_their_order(member: Caller, call: Call) -> None:
    for at in ("2026-11-30T23:59:59Z", "2026-12-01T00:00:00Z", "2026-11-30T21:00:00-05:00"):
        call(member, created_at=at)

    found = rows(member, "group_by=day")

    assert list(found) == ["2026-11-30", "2026-12-01"]
    assert [row[0] for row in found.values()] == [1, 2]


@pytest.mark.parametrize(
    ("span", "calls"),
    [
        ("from=2026-11-30", 3),
        ("to=2026-11-30", 2),
        ("from=2026-11-30&to=2026-11-30", 2),
        ("from=2026-11-30T12:00:00Z", 2),
        ("to=2026-11-30T12:00:00Z", 1),
        ("from=2026-11-30T13:00:00%2B01:00&to=2026-12-01T00:00:00Z", 1),
        ("from=2026-12-02", 0),
    ],
)
def test_a_span_has_its_beginning_and_not_its_end(
    member: Caller, call: Call, span: str, calls: int
) -> None:
    for at in ("2026-11-30T00:00:00Z", "2026-11-30T12:00:00Z", "2026-12-01T00:00:00Z"):
        call(member, created_at=at)

    assert member.get(f"/v1/usage?{span}").json["total"]["calls"] == calls


@pytest.mark.parametrize(
    ("query", "at"),
    [
        ("group_by=user", "group_by"),
        ("from=yesterday", "from"),
        ("from=2026-11-31", "from"),
        ("from=2026-11-30T12:00:00", "from"),
        ("to=9999-12-31", "to"),
        ("to=20261130", "to"),
        ("from=2026-12-01&to=2026-11-30", "to"),
        ("from=", "from"),
        ("format=xml", "format"),
        ("limit=5", "limit"),
    ],
)
def test_what_cannot_be_asked_is_refused(member: Caller, query: str, at: str) -> None:
    reply = member.get(f"/v1/usage?{query}")

    assert_problem(reply, 422, "bad_parameter")
    assert [each[0] for each in codes(reply)] == [at]


@pytest.mark.parametrize(
    ("query", "accept", "kind"),
    [
        ("", "text/csv", "text/csv"),
        ("", "text/csv;q=0.5, application/json", "application/json"),
        ("", "*/*", "application/json"),
        ("", "image/png", "application/json"),
        ("format=csv", "application/json", "text/csv"),
        ("format=json", "text/csv", "application/json"),
    ],
)
def test_the_form_is_that_which_was_asked_for(
    member: Caller, query: str, accept: str, kind: str
) -> None:
    reply = member.get(f"/v1/usage?{query}", headers={"Accept": accept})

    assert reply.mimetype == kind
    assert reply.headers["Cache-Control"] == "no-store"


def test_csv_has_what_json_has(member: Caller, call: Call) -> None:
    agent = make_agent(member, name='Tea, "green"')
    call(member, agent_id=UUID(agent))
    call(member)

    reply = member.get("/v1/usage?group_by=agent&format=csv")
    read = list(csv.DictReader(io.StringIO(reply.text)))

    items = member.get("/v1/usage?group_by=agent").json["items"]
    assert reply.headers["Content-Disposition"] == 'attachment; filename="usage-by-agent.csv"'
    assert [(row["agent"], row["name"]) for row in read] == [
        (row["key"] or "", row["name"] or "") for row in items
    ]
    assert [{name: int(row[name]) for name in FIGURES} for row in read] == [
        {name: row[name] for name in FIGURES} for row in items
    ]


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_no_cell_is_run_as_a_formula(first: str) -> None:
    reply = spreadsheets.answer(["name", "tokens"], [[f"{first}1+1", 5]], "x.csv")

    ((_, row),) = [list(csv.reader(io.StringIO(reply.get_data(as_text=True), newline="")))]
    assert row == [f"'{first}1+1", "5"]


def test_the_name_of_an_agent_is_no_formula(member: Caller, call: Call) -> None:
    name = '=HYPERLINK("http://127.0.0.1")'
    call(member, agent_id=UUID(make_agent(member, name=name)), model="@model")

    assert f"'{name}" in _cells(member.get("/v1/usage?group_by=agent&format=csv").text)
    assert "'@model" in _cells(member.get("/v1/usage?group_by=model&format=csv").text)


def _cells(text: str) -> list[str]:
    return [cell for row in csv.reader(io.StringIO(text)) for cell in row]


def test_estimates_are_compared_with_what_was_billed(member: Caller, call: Call) -> None:
    known = {"estimator": "e/1", "cache_read_tokens": 60, "cache_write_tokens": 30}
    call(member, **known, input_tokens=10, estimated_tokens=110)
    call(member, **known, input_tokens=310, estimated_tokens=390)

    (row,) = member.get("/v1/usage/estimates").json["items"]

    assert (row["model"], row["estimator"], row["calls"]) == ("claude-opus-5-5", "e/1", 2)
    assert (row["billed_tokens"], row["estimated_tokens"]) == (500, 500)
    assert row["error"] == 0
    assert row["mean_error"] == pytest.approx((0.1 + 0.025) / 2)
    assert row["largest_error"] == pytest.approx(0.1)


@pytest.mark.parametrize(
    "lacking",
    [
        {"estimated_tokens": None},
        {"input_tokens": None},
        {"outcome": "failed"},
        {"input_tokens": 0, "cache_read_tokens": 0, "cache_write_tokens": None},
    ],
)
def test_a_call_without_both_figures_says_nothing_of_estimates(
    member: Caller, call: Call, lacking: dict[str, Any]
) -> None:
    call(member, **({"estimated_tokens": 10_000, "estimator": "e/1"} | lacking))

    assert member.get("/v1/usage/estimates").json == {"items": []}


def test_estimates_of_others_are_not_shown(
    member: Caller, other_member: Caller, admin: Caller, stranger: Caller, call: Call
) -> None:
    call(member, estimated_tokens=10_000, estimator="e/1")

    found = [
        len(each.get("/v1/usage/estimates").json["items"])
        for each in (member, admin, other_member, stranger)
    ]

    assert found == [1, 1, 0, 0]


@pytest.mark.parametrize("path", ["usage?group_by=agent", "usage?format=csv", "usage/estimates"])
def test_a_report_reads_the_records_once(
    member: Caller, runtime: Runtime, call: Call, path: str
) -> None:
    call(member, estimated_tokens=10_000, estimator="e/1")
    asked: list[str] = []
    engine = runtime.database._engine

    @event.listens_for(engine, "before_cursor_execute")
    def note(_c: Any, _cursor: Any, statement: str, *_: Any) -> None:
        asked.append(statement)

    member.get(f"/v1/{path}")

    assert sum("usage_records" in each for each in asked) == 1


def test_a_model_whose_estimates_leave_the_band_is_logged_once_a_day(
    member: Caller, admin: Caller, runtime: Runtime, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    good = {"estimator": "test/1", "estimated_tokens": 10_000}
    for caller in (member, admin):
        for _ in range(usage.FEWEST_CALLS // 2):
            call(caller, **good)
            call(caller, model="claude-fable-5", **good | {"estimated_tokens": 12_000})
    call(member, model="claude-haiku-4-5", **good | {"estimated_tokens": 99_000})  # too few to say
    capsys.readouterr()

    for _ in range(2):
        usage.check_estimates(runtime)

    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (line,) = [each for each in told if each["event"] == "estimate_left_band"]
    assert (line["model"], line["level"], line["error"]) == ("claude-fable-5", "warning", 0.199)
    assert 0 < runtime.redis.ttl("hango:told:estimate:test/1:claude-fable-5") <= 24 * 3600
