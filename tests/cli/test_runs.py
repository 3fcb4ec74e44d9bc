"""`hango runs` against hango itself."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.conftest import Asks, Site
from tests.cli.shell import Canned
from tests.cli.worker import working
from tests.fakes.providers import ScriptedProvider
from tests.fakes.strict_provider import Reply, text, tool_use

GONE = "01994c1e-0000-7000-8000-000000000001"


@pytest.fixture
def run(site: Site, on_site: Asks, session: str) -> Any:
    """A run of two calls that has ended."""
    replies = [Reply(blocks=[tool_use("ls")]), Reply(blocks=[text("Nothing.")])]
    with working(site.runtime, ScriptedProvider(*replies)):
        ended = on_site("chat", "--session", session, "look", "--json")
    assert ended.code == 0, ended.err
    return ended.json["run"]


@pytest.fixture
def queued(site: Site, session: str) -> str:
    begun = site.ann.post(f"/v1/sessions/{session}/runs", json={"message": "hi"})
    return str(begun.json["id"])


def test_the_runs_of_a_session(on_site: Asks, session: str, run: Any) -> None:
    listed = on_site("runs", "list", "--session", session[:13])

    (head, row) = listed.out.splitlines()
    assert head.split()[:3] == ["ID", "STATUS", "STOP"]
    assert row.split()[:4] == [run["id"], "succeeded", "end_turn", "2"]
    assert on_site("runs", "list", "--session", session, "--json").json["items"] == [run]


def test_one_run(on_site: Asks, run: Any) -> None:
    shown = on_site("runs", "show", run["id"])

    assert shown.code == 0
    facts = dict(line.split("  ", 1) for line in shown.out.splitlines())
    assert {name: value.strip() for name, value in facts.items()} | {
        "id": run["id"],
        "status": "succeeded",
        "stop reason": "end_turn",
        "messages": ", ".join(map(str, run["messages"])),
        "usage": "200 tokens in, 20 out",
    } == {name: value.strip() for name, value in facts.items()}
    assert on_site("runs", "show", run["id"], "--json").json == run
    assert "with helpers" not in shown.out


def test_what_helpers_have_used_is_told_beside(server: Canned, asks: Asks) -> None:
    used = dict.fromkeys(
        ("calls", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens",
         "cost_micro_dollars", "unpriced_calls"), 2
    )  # fmt: skip
    empty = dict.fromkeys(
        ("session_id", "agent_id", "stop_reason", "error", "created_at", "started_at",
         "finished_at")
    )  # fmt: skip
    helped = {"usage": used, "usage_with_helpers": used | {"calls": 5}}
    server.answers_json(
        {"id": "r", "status": "running", "turns": 1, "messages": [1], **empty, **helped}
    )

    shown = asks("runs", "show", "01994c1e-aaaa-7000-8000-000000000001")

    told = [line.split("  ", 1) for line in shown.out.splitlines()]
    assert ["calls", "2"] in [[name, value.strip()] for name, value in told]
    assert ["calls with helpers", "5"] in told


def test_a_run_that_failed_says_why(site: Site, on_site: Asks, queued: str) -> None:
    with working(site.runtime, ScriptedProvider()):
        assert site.ann.get(f"/v1/runs/{queued}?wait=20").json["status"] == "failed"

    shown = on_site("runs", "show", queued)

    assert shown.code == 0
    assert "internal: hango has a fault here." in shown.out


def test_a_run_that_waits_is_cancelled_at_once(on_site: Asks, queued: str) -> None:
    first, again = on_site("runs", "cancel", queued), on_site("runs", "cancel", queued)

    assert first.out == again.out == f"Run {queued} is cancelled.\n"
    assert on_site("runs", "show", queued, "--json").json["status"] == "cancelled"


def test_a_run_that_goes_on_is_asked_to_end(site: Site, on_site: Asks, queued: str) -> None:
    settings = site.runtime.settings
    with site.runtime.database.system() as system:
        system.runs.claim(
            queued, worker="w", lease=settings.run_lease, timeout=settings.run_timeout
        )

    assert on_site("runs", "cancel", queued).out == f"Run {queued} ends in about a second.\n"


def test_a_run_that_has_ended_stays_as_it_ended(on_site: Asks, run: Any) -> None:
    cancelled = on_site("runs", "cancel", run["id"])

    assert cancelled.out == f"Run {run['id']} had ended before: succeeded.\n"


def test_the_calls_of_a_run(on_site: Asks, run: Any) -> None:
    listed = on_site("runs", "calls", run["id"])

    rows = [line.split() for line in listed.out.splitlines()[1:]]
    assert [row[:4] for row in rows] == [
        [str(call), "turn", "claude-sonnet-4-5", "succeeded"] for call in (1, 2)
    ]


def test_what_a_call_was_sent(on_site: Asks, run: Any) -> None:
    shown = on_site("runs", "calls", run["id"], "2")
    answer = on_site("runs", "calls", run["id"], "2", "--json").json

    assert shown.code == 0
    assert "usage      100 tokens in, 10 out\n" in shown.out
    for part in answer["parts"]:
        assert f"[x]  {part['id']} " in shown.out
        assert part["sha256"][:12] in shown.out


def test_what_a_later_call_was_sent_besides(on_site: Asks, run: Any) -> None:
    call, result = run["messages"][1:3]

    changed = on_site("runs", "diff", run["id"], "1", "2")
    back = on_site("runs", "diff", run["id"], "2", "1")

    assert f"+  message:{call} " in changed.out
    assert f"+  message:{result} " in changed.out
    assert "parts are the same.\n" in changed.out
    assert f"-  message:{result} " in back.out
    same = on_site("runs", "diff", run["id"], "1", "1").out
    assert same.count("\n") == 1
    assert same.endswith("the same.\n")


@pytest.mark.parametrize(
    "arguments",
    [("show", GONE), ("cancel", GONE), ("calls", GONE), ("diff", GONE, "1", "2"), ("show", "a/b")],
)
def test_a_run_that_is_not_there(on_site: Asks, arguments: tuple[str, ...]) -> None:
    ended = on_site("runs", *arguments)

    assert (ended.code, ended.out, ended.err.count("\n")) == (3, "", 1)


@pytest.mark.parametrize("number", ["0", "x", "-1"])
def test_a_call_is_counted_from_1(on_site: Asks, run: Any, number: str) -> None:
    assert on_site("runs", "calls", run["id"], number).code == 2
    assert on_site("runs", "calls", run["id"], "9").code == 3
