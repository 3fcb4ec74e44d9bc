"""`hango context history`, `restore` and `diff` against hango itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Asks, Site
from tests.cli.shell import on_terminal, parts_of
from tests.factories import append, make_agent, make_session
from tests.history import assistant, thinking, user

HOSTILE = [
    "[/INST] [bold]x :memo: %s",
    "\x1b[31mred\x1b[0m \x9b1m",
    "日本 👨‍👩‍👧‍👦 \u202e reversed",
]


def test_history_and_restore(site: Site, context: Asks, refused: Asks, session: str) -> None:
    assert context("history").out == "No overrides were ever saved.\n"
    context("exclude", "message:5", "--reason", "[/x] :memo: [bold]日本")
    context("replace", "message:1", "--text", "short")

    rows = context("history").out.splitlines()[1:]
    assert [row.split()[0] for row in rows] == ["2", "1"]
    assert rows[1].split()[3:6] == ["you", "1", "0"]
    assert rows[1].endswith("[/x] :memo: [bold]日本")

    tried = context("restore", "1", "--dry-run").out
    assert "brought back  message:1\n" in tried
    assert "message:1" in site.saved(session)
    assert f"session {session}  version 3\n" in context("restore", "1").out
    assert site.saved(session) == {"message:5": ("exclude", None)}
    assert "restored from version 1" in context("history").out

    code, line = refused("restore", "9")
    assert (code, "hango context history" in line) == (3, True)


def test_restoring_the_agents_set(site: Site, context: Asks, agent: str) -> None:
    context("exclude", "tool:grep")
    context("clear", "--agent-parts")

    context("restore", "--agent-parts", "1")

    assert set(site.saved(agent, "agents")) == {"tool:grep"}


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_text_stays_text(context: Asks, words: str) -> None:
    context("replace", "message:1", "--text", words)

    for name, *more in (["show"], ["history"], ["diff"], ["diff", "--against", "1"], ["clear"]):
        out = context(name, *more).out
        assert not set(out) & set("\x1b\x9b\u202e")
    stored = context("history", "--json").json["items"][-1]
    assert stored["overrides"][0]["replacement"] == words


def differences(context: Asks, *arguments: str) -> dict[str, tuple[str, int | None]]:
    """What changed with each part that changed, and its tokens."""
    groups = context("diff", *arguments, "--json").json["groups"].values()
    rows = [row for group in groups for row in group if "part" in row]
    return {row["part"]: (row["change"], row["difference"]) for row in rows}


def test_a_diff_adds_up(context: Asks) -> None:
    context("exclude", "message:3", "tool:grep", "message:99")
    context("replace", "message:1", "--text", "short")
    snapshot = context("show", "--json").json

    document = context("diff", "--json").json

    listed = parts_of(snapshot)
    assert differences(context) == {
        "tool:grep": ("left out", -listed["tool:grep"]["tokens"]),
        "message:1": (
            "replaced", listed["message:1"]["tokens"] - listed["message:1"]["tokens_before"],
        ),
        **{f"message:{n}": ("left out", -listed[f"message:{n}"]["tokens"]) for n in (2, 3, 4)},
    }  # fmt: skip
    for name, rows in document["groups"].items():
        changed = sum(row.get("difference", 0) for row in rows)
        tokens = snapshot["groups"][name]["tokens"]
        assert changed == tokens["after"] - tokens["before"]
        kept = sum(row.get("tokens", row.get("after", 0)) for row in rows)
        assert kept == tokens["after"]
    totals = snapshot["totals"]
    assert document["totals"]["difference"] == totals["after"] - totals["before"]


def test_a_diff_folds_what_is_the_same(context: Asks) -> None:
    context("exclude", "message:3")

    lines = context("diff").out.splitlines()

    messages = lines[lines.index("messages") + 1 : -1]
    assert [line.split()[:2] for line in messages] == [
        ["…", "1"], ["-", "message:2"], ["-", "message:3"], ["-", "message:4"], ["…", "2"],
    ]  # fmt: skip
    assert lines[0] == "from without overrides to the next call"


def test_a_turn_that_only_the_filtered_history_needs_is_added(
    site: Site, context: Asks, session: str
) -> None:
    context("exclude", "message:6")
    added = parts_of(context("show", "--json").json)["synthetic:continue"]["tokens"]

    assert differences(context)["synthetic:continue"] == ("added", added)

    append(site.ann, session, assistant("and now it ends so anyway"))
    assert "synthetic:continue" not in differences(context)


def test_thinking_that_an_edit_has_unbound(site: Site, on_site: Asks) -> None:
    agent = make_agent(site.ann, model="claude-opus-5-5")  # it binds thinking to its prefix
    turns = [user("hi"), ("assistant", [thinking(), *assistant("done")[1]]), user("more")]
    session = make_session(site.ann, agent, *turns)
    before = ["context", "diff", "--session", session, "--json"]
    assert "thinking" not in on_site(*before).out

    changed = on_site("context", "replace", "--session", session, "message:1", "--text", "ho")

    assert changed.code == 0, changed.err
    assert "thinking  left out of message:2\n" in changed.out
    rows = on_site(*before).json["groups"]["messages"]
    assert [row["change"] for row in rows if row.get("part") == "message:2"] == [
        "thinking left out"
    ]
    assert "thinking dropped" in on_site("context", "show", "--session", session).out


def test_a_diff_against_an_earlier_set(context: Asks) -> None:
    context("exclude", "message:5")
    first = context("show", "--json").json["totals"]["after"]
    context("include", "message:5")
    context("replace", "message:1", "--text", "short")
    context("exclude", "message:6")

    listed = parts_of(context("show", "--json").json)
    assert differences(context, "--against", "1") == {
        "message:5": ("brought back", listed["message:5"]["tokens"]),
        "message:6": ("left out", -listed["message:6"]["tokens"]),
        "message:1": (
            "replaced", listed["message:1"]["tokens"] - listed["message:1"]["tokens_before"],
        ),
    }  # fmt: skip
    assert context("diff", "--against", "1", "--json").json["totals"]["before"] == first
    assert differences(context, "--against", "4") == {}


def test_what_another_text_would_cost_is_not_known(context: Asks) -> None:
    context("replace", "message:1", "--text", "short")
    context("replace", "message:1", "--text", "another one")

    assert differences(context, "--against", "1") == {"message:1": ("replaced", None)}
    row = next(line for line in context("diff", "--against", "1").out.splitlines() if "~" in line)
    assert row.split()[-3::2] == ["–", "–"]


def test_a_diff_against_the_agents_set(context: Asks) -> None:
    context("exclude", "tool:grep", "message:5")
    context("clear", "--all")

    assert set(differences(context, "--against", "1")) == {"message:5"}
    assert set(differences(context, "--against", "1", "--agent-parts")) == {"tool:grep"}


def test_snapshots_of_files(
    site: Site, context: Asks, session: str, on_site: Asks, tmp_path: Path
) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new [x].json"
    old.write_text(context("show", "--json").out)
    context("exclude", "message:3", "system:todo")
    append(site.ann, session, assistant("more"), user("and more"))
    new.write_text(context("show", "--json").out)

    against_now = differences(context, "--from", str(old))
    both = on_site("context", "diff", "--from", str(old), "--from", str(new), "--json")

    assert {part: change for part, (change, _) in against_now.items()} == {
        "system:todo": "left out",
        **{f"message:{n}": "left out" for n in (2, 3, 4)},
        "message:7": "added",
        "message:8": "added",
    }
    rows = [row for group in both.json["groups"].values() for row in group if "part" in row]
    assert {row["part"]: (row["change"], row["difference"]) for row in rows} == against_now
    totals = [json.loads(each.read_text())["totals"]["after"] for each in (old, new)]
    assert both.json["totals"] == {
        "before": totals[0], "after": totals[1], "difference": totals[1] - totals[0],
    }  # fmt: skip
    assert f"to {new}\n" in on_site("context", "diff", "--from", str(old), "--from", str(new)).out


@pytest.mark.parametrize(
    "words", ["", "{", "[]", '{"groups": {}}', "[" * 100_000, '{"session_id": 1}']
)
def test_a_file_that_holds_no_snapshot(refused: Asks, tmp_path: Path, words: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(words)

    code, line = refused("diff", "--from", str(file))

    assert (code, "holds no snapshot" in line) == (2, True)


def test_a_page_is_not_compared(context: Asks, refused: Asks, tmp_path: Path) -> None:
    file = tmp_path / "page.json"
    file.write_text(context("show", "--messages-limit", "2", "--json").out)

    assert refused("diff", "--from", str(file))[0] == 2


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--against", "1"], 3),
        (["--against", "0"], 2),
        (["--agent-parts"], 2),
        (["--from", "a", "--from", "a", "--from", "a"], 2),
        (["--from", "a", "--against", "1"], 2),
        (["--from", "nowhere"], 2),
    ],
)
def test_what_cannot_be_compared(refused: Asks, arguments: list[str], code: int) -> None:
    Path("a").write_text("{}")

    assert refused("diff", *arguments)[0] == code


def test_a_diff_on_a_terminal(context: Asks, session: str) -> None:
    context("exclude", "message:3")

    shown = on_terminal("context", "diff", "--session", session, width=70)

    assert shown.code == 0
    assert "\x1b[1mmessages" in shown.out
