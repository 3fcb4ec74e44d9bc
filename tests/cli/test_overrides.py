"""`hango context exclude`, `include` and `clear` against hango itself."""

from __future__ import annotations

import shlex
from typing import Any
from urllib.parse import quote

import pytest

import cli.overrides.sets
from tests.cli.conftest import Asks, Site
from tests.cli.shell import parts_of
from tests.factories import append, make_session
from tests.history import assistant, tool_result, tool_use, user

GROUP = ["message:2", "message:3", "message:4"]
ODD_MEMORIES = [
    "system:memory:/memories/AGENTS.md",
    "system:memory:/memories/a+b.md",
    "system:memory:/memories/R&D #1 50%.md",
    "system:memory:/memories/日本.md",
    "system:memory:/memories/:memo:[bold] {x}.md",
]


def total(context: Asks) -> int:
    tokens: int = context("show", "--json").json["totals"]["after"]
    return tokens


def keep_memory(site: Site, agent: str, part: str, words: str = "# Notes") -> None:
    path = quote(part.removeprefix("system:memory:/"))
    stored = site.ann.put(f"/v1/agents/{agent}/memory/{path}", json={"content": words})
    assert stored.status_code == 200


@pytest.mark.parametrize("wanted", GROUP)
def test_an_exclusion_says_what_went_along_and_what_it_saves(
    site: Site, context: Asks, session: str, wanted: str
) -> None:
    before = total(context)

    out = context("exclude", wanted).out

    assert set(site.saved(session)) == set(GROUP)
    assert f"excluded  {wanted}\n" in out
    for partner in set(GROUP) - {wanted}:
        assert f"added     {partner}, goes with message:" in out
    assert "(call p1)" in out
    assert "(call p2)" in out
    assert f"saves     {before - total(context):,} tokens per call\n" in out
    assert f"session {session}  version 1\n" in out


def test_the_cheaper_alternative_can_be_typed_as_it_stands(
    site: Site, context: Asks, session: str, on_site: Asks
) -> None:
    out = context("exclude", "message:2", "--json").json
    shown = context("restore", "1").out
    assert shown == "Nothing is changed: the overrides are so already.\n"
    context("clear")
    line = next(
        line for line in context("exclude", "message:2").out.splitlines() if "cheaper" in line
    )

    assert out["sets"][0]["alternatives"][0]["part"] == "message:3"
    assert on_site(*shlex.split(line.partition(": ")[2])[1:]).code == 0
    assert site.saved(session) == {"message:3": ("replace", "[left out]")}


@pytest.mark.parametrize("wanted", GROUP)
def test_a_group_comes_back_together(site: Site, context: Asks, session: str, wanted: str) -> None:
    context("exclude", "message:3", "message:6")

    out = context("include", wanted).out

    assert set(site.saved(session)) == {"message:6"}
    assert f"brought back  {wanted}\n" in out
    others = next(line for line in out.splitlines() if line.startswith("with it "))
    assert set(GROUP) - {wanted} == {each.rstrip(",:") for each in others.split() if "mess" in each}


def test_another_group_stays_out(site: Site, context: Asks, session: str) -> None:
    append(site.ann, session, tool_use("q"), tool_result("q"), assistant("ok"), user("more"))
    context("exclude", "message:2", "message:7")

    context("include", "message:4")

    assert set(site.saved(session)) == {"message:7", "message:8"}


def test_a_group_of_a_suspended_set_comes_back_too(site: Site, context: Asks, session: str) -> None:
    append(site.ann, session, tool_use("q1", "q2"), tool_result("q1"))
    context("exclude", "message:8")
    append(site.ann, session, tool_result("q2"), assistant("ok"))
    shown = context("show").out
    assert "! The session's overrides are left out, since they break the request: " in shown
    assert "tool_result_orphan at message:9" in shown

    context("include", "message:8")

    assert site.saved(session) == {}


def test_what_is_brought_back_was_there_all_along(context: Asks) -> None:
    assert context("include", "message:1").out == (
        "Nothing is changed: the overrides are so already.\n"
    )


@pytest.mark.parametrize(("part", "code"), [("message:99", 3), ("message:07", 2), ("", 2)])
def test_what_is_not_there_is_not_brought_back(refused: Asks, part: str, code: int) -> None:
    assert refused("include", part)[0] == code


def test_the_same_exclusion_twice_changes_nothing(context: Asks) -> None:
    context("exclude", "message:3")

    again = context("exclude", "message:3", "message:3", "message:2", "--json").json

    assert again["sets"] == []
    assert len(context("history", "--json").json["items"]) == 1


def test_a_part_that_is_not_there_is_told_to_be_stale(context: Asks) -> None:
    ended = context("exclude", "message:99")
    assert ended.err == ("message:99 is not in the next call: its override is stale until it is.\n")

    shown = context("show").out
    row = next(line for line in shown.splitlines() if " message:99 " in line)
    assert row.endswith("excluded, stale")
    assert "! 1 of the overrides are stale" in shown
    assert context("exclude", "message:99", "--json").json["absent"] == ["message:99"]


def test_a_dry_run_says_the_same_and_saves_nothing(
    site: Site, context: Asks, session: str, agent: str
) -> None:
    change = ["exclude", "message:3", "tool:grep", "--json"]
    tried = context(*change, "--dry-run").json
    assert (site.saved(session), site.saved(agent, "agents")) == ({}, {})

    done = context(*change).json

    assert (tried["dry_run"], done["dry_run"]) == (True, False)
    told = ("target", "excluded", "added", "alternatives", "price", "thinking_dropped")
    for dry, real in zip(tried["sets"], done["sets"], strict=True):
        assert {name: dry[name] for name in told} == {name: real[name] for name in told}
        assert (dry["saved"], real["saved"]) == (False, True)
    context("clear", "--all")
    assert "dry run, nothing is saved" in context(*change[:-1], "--dry-run").out


def test_parts_of_the_agent_go_to_the_agent_and_it_says_so(
    site: Site, context: Asks, session: str, agent: str
) -> None:
    other = make_session(site.ann, agent, user("hi"))

    out = context("exclude", "system:todo", "message:5", "tool:grep", "--reason", "shorter").out

    assert f"agent {agent}  version 1, acts on every session of this agent\n" in out
    assert set(site.saved(agent, "agents")) == {"system:todo", "tool:grep"}
    assert set(site.saved(session)) == {"message:5"}
    elsewhere = site.ann.get(f"/v1/sessions/{other}/context").json["groups"]["system"]["parts"]
    assert [part["included"] for part in elsewhere if part["id"] == "system:todo"] == [False]
    for more in ([], ["--agent-parts"]):
        assert context("history", *more, "--json").json["items"][0]["reason"] == "shorter"


def test_a_changed_prefix_is_billed_once_more(site: Site, context: Asks, agent: str) -> None:
    keep_memory(site, agent, ODD_MEMORIES[0], "word " * 3000)
    shown = context("show", "--json").json["cache"]
    assert shown["effective"]

    out = context("exclude", "system:todo").out

    rebilled = context("show", "--json").json["cache"]["prefix_tokens"]
    assert f"re-bills  {rebilled:,} tokens of the cached prefix once, which is paid back " in out


@pytest.mark.parametrize("part", ODD_MEMORIES)
def test_a_memory_of_any_name_can_be_left_out_replaced_and_brought_back(
    site: Site, context: Asks, agent: str, part: str
) -> None:
    keep_memory(site, agent, part)
    assert f"  {part} " in context("show").out

    assert f"excluded  {part}\n" in context("exclude", part).out
    assert parts_of(context("show", "--json").json)[part]["included"] is False
    assert f"- {part} " in " ".join(context("diff").out.split())

    replaced = context("replace", part, "--text", "[/short] [bold]")
    assert f"replaced  {part}\n" in replaced.out
    assert site.saved(agent, "agents") == {part: ("replace", "[/short] [bold]")}

    assert f"brought back  {part}\n" in context("include", part).out
    assert site.saved(agent, "agents") == {}


@pytest.mark.parametrize("part", ["tool:a?b=c", "tool:x/../y", "system:memory://x/%2e%2e/#"])
def test_an_id_is_one_exact_string(site: Site, context: Asks, agent: str, part: str) -> None:
    context("exclude", part)
    assert set(site.saved(agent, "agents")) == {part}

    context("include", part)
    assert site.saved(agent, "agents") == {}


@pytest.mark.parametrize(
    "part", ["message:0", "message:+7", "message:07", "message:٤٢", "MESSAGE:5", "summary ", "x:"]
)
def test_a_malformed_id_is_refused_by_its_name(refused: Asks, part: str) -> None:
    code, line = refused("exclude", "message:5", part)

    assert code == 2
    assert f"; {part}: This is not a part id" in line


def test_what_cannot_be_sent_is_refused_and_nothing_is_changed(
    site: Site, refused: Asks, session: str, agent: str
) -> None:
    code, line = refused("exclude", "tool:grep", "message:1", "message:6")

    assert code == 2
    assert "overrides_refused" in line
    assert (site.saved(session), site.saved(agent, "agents")) == ({}, {})


@pytest.mark.parametrize(
    ("which", "left"),
    [([], {"tool:grep"}), (["--agent-parts"], {"message:5"}), (["--all"], set())],
)
def test_clearing(
    site: Site, context: Asks, session: str, agent: str, which: list[str], left: set[str]
) -> None:
    context("exclude", "message:5", "tool:grep")

    out = context("clear", *which).out

    assert {*site.saved(session), *site.saved(agent, "agents")} == left
    for part in {"message:5", "tool:grep"} - left:
        assert f"brought back  {part}\n" in out


def test_a_change_that_came_in_between_is_not_lost(
    site: Site, context: Asks, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [{"overrides": [{"part": "message:6", "action": "exclude"}], "reason": "theirs"}]
    preview = cli.overrides.sets.preview

    def interrupted(*given: Any) -> dict[str, Any]:
        if others:
            url = f"/v1/sessions/{session}/context-overrides"
            assert site.ann.put(url, json=others.pop()).status_code == 200
        return preview(*given)

    monkeypatch.setattr(cli.overrides.sets, "preview", interrupted)

    context("exclude", "message:5")

    assert set(site.saved(session)) == {"message:5", "message:6"}


def test_an_agent_of_others_is_not_changed_and_neither_is_the_session(
    site: Site, on_site: Asks, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.ann.patch(f"/v1/agents/{agent}", json={"shared": True})
    bob = site.ann.post("/v1/users", json={"name": "bob", "role": "member"}).json["id"]
    minted = site.ann.post("/v1/keys", json={"name": "cli", "user_id": bob})
    monkeypatch.setenv("HANGO_API_KEY", minted.json["key"])
    own = on_site("sessions", "create", "--agent", agent, "--json").json["id"]
    assert on_site("messages", "append", "--session", own, "hi").code == 0
    assert on_site("messages", "append", "--session", own, "there").code == 0

    ended = on_site("context", "exclude", "--session", own, "tool:grep", "message:1")

    assert (ended.code, ended.out, ended.err.count("\n")) == (3, "", 1)
    assert on_site("context", "history", "--session", own, "--json").json == {"items": []}
    assert site.saved(agent, "agents") == {}
