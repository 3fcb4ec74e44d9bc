"""The command line and hango itself, from the first agent to the last refusal."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.cli.conftest import Site
from tests.cli.shell import ROOT, Result, on_terminal

Asks = Callable[..., Result]

TRANSCRIPTS = ROOT / "tests" / "data" / "transcripts"
HISTORY = [
    {"role": "user", "content": "What is the rate?"},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "t1", "name": "look_up", "input": {"q": "rate"}}],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "[/INST] 4 %"}],
    },
    {"role": "assistant", "content": "Four percent."},
]


def made(result: Result) -> Any:
    assert result.code == 0, result.err
    return result.json


@pytest.fixture
def agent(on_site: Asks) -> str:
    agent_id: str = made(
        on_site("agents", "create", "--name", "helper", "--system-prompt", "[bold]Help.", "--json")
    )["id"]
    return agent_id


@pytest.fixture
def session(on_site: Asks, agent: str) -> str:
    session_id: str = made(on_site("sessions", "create", "--agent", agent, "--json"))["id"]
    made(
        on_site("messages", "append", "--session", session_id, "--json", stdin=json.dumps(HISTORY))
    )
    return session_id


def test_from_nothing_to_a_context(on_site: Asks, session: str) -> None:
    result = on_site("context", "show", "--session", session)

    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert [line.split()[0] for line in lines if line[:1].isalpha()] == [
        lines[0].split()[0], "system", "tools", "messages", "total", "window", "counted", "cache",
    ]  # fmt: skip
    for part in ("system:agent", "message:1", "message:4"):
        assert any(line.startswith(f"[x]  {part} ") for line in lines)
    assert "[bold]Help." in result.out
    assert "[/INST]" in on_site("messages", "list", "--session", session).out + result.out


def test_the_sums_of_the_table_are_those_of_the_answer(on_site: Asks, session: str) -> None:
    snapshot = made(on_site("context", "show", "--session", session, "--json"))

    for group in snapshot["groups"].values():
        included = [part["tokens"] for part in group["parts"] if part["included"]]
        assert sum(included) == group["tokens"]["after"]
    assert f"total    {snapshot['totals']['after']:,} tokens" in (
        on_site("context", "show", "--session", session).out
    )


def test_pages_of_messages(on_site: Asks, session: str) -> None:
    first = on_site("context", "show", "--session", session, "--messages-limit", "2")
    assert "messages  2 of 5 parts" in first.out  # the fifth is the synthetic [Continue]
    assert "--messages-before 4" in first.out

    rest = ["--messages-limit", "9", "--messages-before", "4"]
    second = on_site("context", "show", "--session", session, *rest)
    assert "message:1 " in second.out
    assert "message:4 " not in second.out


ODD_PATHS = [
    "/memories/AGENTS.md",
    "/memories/a+b.md",
    "/memories/R&D #1 50%.md",
    "/memories/日本.md",
    "/memories/:memo:[bold].md",
]


@pytest.mark.parametrize("path", ODD_PATHS)
def test_a_memory_of_any_name_is_shown_as_it_was_written(
    site: Site, on_site: Asks, agent: str, session: str, path: str
) -> None:
    text = "# Notes\n\x1b[31mred\x1b[0m [/a/b] 日本 👨‍👩‍👧‍👦\n"
    url = f"/v1/agents/{agent}/memory/{quote(path.removeprefix('/'))}"
    assert site.ann.put(url, json={"content": text}).status_code == 200

    listed = on_site("context", "show", "--session", session)
    assert f"[x]  system:memory:{path} " in listed.out
    assert "\x1b" not in listed.out

    whole = on_site("context", "show", "--session", session, "--full", f"system:memory:{path}")
    assert whole.code == 0, whole.err
    assert text in whole.out


@pytest.mark.parametrize(
    ("part", "code"),
    [("message:999", 3), ("system:memory:/nothing", 3), ("message:07", 2), ("[/x]", 2), ("", 2)],
)
def test_a_part_that_is_not_there(on_site: Asks, session: str, part: str, code: int) -> None:
    result = on_site("context", "show", "--session", session, "--full", part)

    assert (result.code, result.out, result.err.count("\n")) == (code, "", 1)


@pytest.mark.parametrize(
    "session_id", ["01994c1e-0000-7000-8000-000000000001", "a/b", "%2e%2e", "x?y#z", "日本"]
)
def test_a_session_that_is_not_there(on_site: Asks, session_id: str) -> None:
    result = on_site("context", "show", "--session", session_id)

    assert (result.code, result.out, result.err.count("\n")) == (3, "", 1)
    assert "hango sessions list" in result.err


def test_a_session_lives_and_goes(on_site: Asks, session: str, agent: str) -> None:
    assert made(on_site("sessions", "rename", session, "Räte 日本", "--json"))["title"]
    assert "Räte 日本" in on_site("sessions", "list").out

    assert on_site("sessions", "archive", session).code == 0
    assert session not in on_site("sessions", "list").out
    assert session in on_site("sessions", "list", "--archived").out

    assert on_site("agents", "delete", agent, "--yes").code == 1
    assert on_site("sessions", "delete", session, "--yes").code == 0
    assert on_site("sessions", "show", session).code == 3
    assert on_site("agents", "delete", agent, "--yes").code == 0
    assert made(on_site("agents", "list", "--json")) == {"items": [], "next": None}


def test_a_session_is_found_by_its_first_characters(on_site: Asks, session: str) -> None:
    result = on_site("context", "show", "--session", session[:13], "--json")

    assert made(result)["session_id"] == session


def test_a_list_over_several_pages(on_site: Asks, agent: str) -> None:
    ids = {made(on_site("sessions", "create", "--agent", agent, "--json"))["id"] for _ in range(5)}

    some = made(on_site("sessions", "list", "--limit", "2", "--json"))
    rest = made(on_site("sessions", "list", "--all", "--after", some["next"], "--json"))

    assert {each["id"] for each in some["items"] + rest["items"]} == ids
    assert len(rest["items"]) == 3


def test_a_history_that_could_never_be_sent_is_refused_with_its_place(
    on_site: Asks, session: str
) -> None:
    orphan = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t9"}]}

    result = on_site("messages", "append", "--session", session, stdin=json.dumps([orphan]))

    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "messages[0]" in result.err
    assert "history_refused" in result.err


def test_json_with_a_key_twice_is_refused(on_site: Asks, session: str) -> None:
    result = on_site(
        "messages", "append", "--session", session, stdin='{"role":"user","role":"user"}'
    )

    assert result.code == 2
    assert "malformed_body" in result.err


def test_a_folder_with_subagents_becomes_sessions_once(on_site: Asks) -> None:
    folder = TRANSCRIPTS / "claude-code" / "15-subagent"

    first = on_site("import", str(folder))
    again = on_site("import", str(folder), "--json")

    assert first.code == 0, first.err
    assert first.out.startswith("Imported: session ")
    assert "messages made" in first.out
    assert made(again)["created"] is False
    for each in made(again)["sessions"]:
        assert on_site("context", "show", "--session", each["session_id"]).code == 0


@pytest.mark.parametrize(
    "name",
    [
        "claude-code/17-edge-cases.jsonl",
        "claude-code/07-cjk-sidechain.jsonl",
        "anthropic-request/07-image.json",
        "openai-chat/02-tau-bench-airline.json",
    ],
)
def test_what_was_imported_can_be_looked_at(on_site: Asks, name: str) -> None:
    session_id = made(on_site("import", str(TRANSCRIPTS / name), "--json"))["session_id"]

    shown = on_site("context", "show", "--session", session_id)
    snapshot = made(on_site("context", "show", "--session", session_id, "--json"))

    assert (shown.code, shown.err) == (0, "")
    assert "\x1b" not in shown.out
    for group in snapshot["groups"].values():
        for part in group["parts"]:
            assert f"  {part['id']} " in shown.out


def test_a_file_that_is_no_transcript_is_refused(on_site: Asks) -> None:
    result = on_site("import", str(ROOT / "pyproject.toml"))

    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "import_refused" in result.err


def test_login_and_the_key_of_nobody(site: Site, hango: Asks) -> None:
    refused = hango("login", "--url", site.url, "--key", "hk_nobody_nothing")
    assert (refused.code, refused.err.count("\n")) == (3, 1)

    signed_in = hango("login", "--url", site.url, "--key", site.ann.key)
    assert signed_in.out.startswith(f"Signed in at {site.url} as ann (admin of acme).")
    assert made(hango("agents", "list", "--json"))["items"] == []


def test_the_table_on_a_terminal(on_site: Asks, session: str) -> None:
    result = on_terminal("context", "show", "--session", session, width=90)

    assert result.code == 0
    assert "\x1b[1msystem" in result.out
