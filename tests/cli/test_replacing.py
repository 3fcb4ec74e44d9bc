"""`hango context replace` against hango itself, and replaced parts in `context show`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Asks, Site
from tests.cli.shell import parts_of
from tests.factories import append
from tests.history import call, result, text, thinking, tool_result, tool_use

Editor = Callable[[str], None]


def test_a_tool_is_not_replaced(refused: Asks) -> None:
    code, line = refused("replace", "tool:grep", "--text", "x")

    assert code == 2
    assert "tool:grep: A tool can be left out, not replaced" in line


@pytest.mark.parametrize("given", [[], ["--text", "x", "--edit"], ["--text", "x", "--file", "-"]])
def test_one_text_is_needed(refused: Asks, given: list[str]) -> None:
    code, line = refused("replace", "message:1", *given)

    assert (code, "Give one of --text, --file and --edit." in line) == (2, True)


def test_a_replacement_comes_from_a_file_or_from_stdin(
    site: Site, context: Asks, session: str, tmp_path: Path
) -> None:
    file = tmp_path / "räte #1.md"
    file.write_bytes(b"\xef\xbb\xbf# Rates\r\n\xe6\x97\xa5\xe6\x9c\xac\n")

    context("replace", "message:1", "--file", str(file))
    assert site.saved(session) == {"message:1": ("replace", "# Rates\r\n日本\n")}

    context("replace", "message:1", "--file", "-", stdin="from a pipe")
    assert site.saved(session) == {"message:1": ("replace", "from a pipe")}


def test_a_replaced_part_shows_both_counts_and_both_texts(context: Asks) -> None:
    def tokens() -> int:
        found: int = parts_of(context("show", "--json").json)["message:1"]["tokens"]
        return found

    before = tokens()

    context("replace", "message:1", "--text", "short")

    row = next(line for line in context("show").out.splitlines() if " message:1 " in line)
    assert row.endswith(f"replaced {before}→{tokens()}")
    assert context("show", "--full", "message:1").out == "short"
    assert context("show", "--full", "message:1", "--before").out == "look around " * 30


def test_before_goes_with_full(refused: Asks) -> None:
    assert refused("show", "--before")[0] == 2


def test_a_replaced_part_whose_original_changed_says_so(
    site: Site, context: Asks, agent: str
) -> None:
    context("replace", "system:agent", "--text", "Be brief.")
    site.ann.patch(f"/v1/agents/{agent}", json={"system_prompt": "Help a lot."})

    shown = context("show").out

    row = next(line for line in shown.splitlines() if " system:agent " in line)
    assert "original changed" in row
    assert "! 1 of the replaced parts have another original now" in shown
    assert context("show", "--full", "system:agent", "--before").out == "Help a lot."


def test_replacing_a_result_that_left_brings_its_call_back(
    site: Site, context: Asks, session: str
) -> None:
    context("exclude", "message:3")

    out = context("replace", "message:3", "--text", "[a long listing]").out

    assert site.saved(session) == {"message:3": ("replace", "[a long listing]")}
    assert "with it   message:2, message:4: calls and results go together\n" in out


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Editor:
    """Let $EDITOR do this to the text of the file that it is given."""

    def does(what: str) -> None:
        script = tmp_path / "edit"
        script.write_text(
            "#!/usr/bin/env python3\nimport sys\npath = sys.argv[1]\n"
            f"text = open(path, newline='').read()\ntext = {what}\n"
            "open(path, 'w', newline='').write(text)\n"
        )
        script.chmod(0o755)
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setenv("EDITOR", str(script))

    return does


@pytest.mark.parametrize(
    ("part", "present"),
    [("system:agent", "Help."), ("message:5", "done"), ("message:3", "contents")],
)
def test_an_edit_starts_from_the_present_text(
    site: Site, context: Asks, session: str, agent: str, editor: Editor,
    part: str, present: str,
) -> None:  # fmt: skip
    editor("text + ' And more.\\n'")

    context("replace", part, "--edit")
    context("replace", part, "--edit")

    stored = site.saved(session) | site.saved(agent, "agents")
    assert stored == {part: ("replace", f"{present} And more. And more.")}


def test_an_edit_of_a_call_has_its_words_alone(
    site: Site, context: Asks, session: str, editor: Editor
) -> None:
    turn = [thinking(), text("I look"), call("q"), call("r")]
    append(site.ann, session, ("assistant", turn), ("user", [result("q"), result("r")]))
    editor("text.upper()")

    context("replace", "message:7", "--edit")

    assert site.saved(session) == {"message:7": ("replace", "I LOOK")}


@pytest.mark.parametrize("what", ["text", "text + '\\n'", "''", "' \\n\\t\\n'"])
def test_an_edit_that_comes_to_nothing_changes_nothing(
    site: Site, context: Asks, session: str, editor: Editor, what: str
) -> None:
    editor(what)

    out = context("replace", "message:1", "--edit").out

    assert out == "Nothing is changed: the overrides are so already.\n"
    assert site.saved(session) == {}


def test_what_was_written_is_kept_when_it_is_refused(
    refused: Asks, editor: Editor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    editor(r"'\u200b'")

    code, line = refused("replace", "message:1", "--edit")

    assert (code, "message:1: Write what stands in its place" in line) == (2, True)
    kept = [path for path in tmp_path.glob("hango-*.md") if str(path) in line]
    assert kept[0].read_text() == "\u200b"


@pytest.mark.parametrize("name", ["false", "/nowhere/editor"])
def test_an_editor_that_fails_is_one_line(
    refused: Asks, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("VISUAL", name)

    code, line = refused("replace", "message:1", "--edit")

    assert (code, name in line) == (1, True)


@pytest.mark.parametrize("part", ["tool:grep", "message:8"])
def test_what_has_no_one_text_is_not_edited(
    site: Site, refused: Asks, session: str, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    append(site.ann, session, tool_use("q", "r"), tool_result("q", "r"))
    monkeypatch.setenv("VISUAL", "/nowhere/editor")

    code, line = refused("replace", part, "--edit")

    assert (code, "/nowhere/editor" in line) == (2, False)
