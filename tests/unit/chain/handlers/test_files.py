from __future__ import annotations

import pytest

from app.chain.handlers.answers import Answers
from app.chain.handlers.files import MAX_ENTRIES, FileTools
from app.chain.handlers.inputs import carried_out
from app.chain.prompts import definitions_of
from app.domain.files import MAX_FILE_CHARACTERS
from app.domain.tools import ToolCall
from app.tokens.estimator import estimator_for
from tests.fakes.workspace import MemoryWorkspace

ANSWERS = Answers(15_000, estimator_for("claude-sonnet-4-5"))
DEFINITIONS = {each["name"]: each for each in definitions_of("filesystem")}
TREE = {
    "/a.txt": "one\n",
    "/notes/plan.md": "two\nlines\n",
    "/notes/old/漢.md": "漢",
    "/memories/AGENTS.md": "Be kind.",
}


@pytest.fixture
def workspace():
    return MemoryWorkspace(TREE)


def asked(workspace, tool, **values):
    handler_of = carried_out(FileTools(workspace, ANSWERS).by_name())
    return handler_of(DEFINITIONS[tool])(ToolCall("t1", tool, values))


def said(workspace, tool, **values):
    outcome = asked(workspace, tool, **values)
    assert not outcome.is_error, outcome.content
    return outcome.content


def refused(workspace, tool, **values):
    outcome = asked(workspace, tool, **values)
    assert outcome.is_error, outcome.content
    return outcome.content


def test_a_folder_shows_its_files_and_folders_with_what_lies_in_them(workspace):
    assert said(workspace, "ls").split("\n") == [
        "/a.txt  4 bytes",
        "/memories/  1 file, 8 bytes",
        "/notes/  2 files, 13 bytes",
    ]
    assert said(workspace, "ls", path="/notes").split("\n") == [
        "/notes/old/  1 file, 3 bytes",
        "/notes/plan.md  10 bytes",
    ]
    assert said(workspace, "ls", path="/notes/") == said(workspace, "ls", path="/notes")


def test_a_folder_is_not_one_whose_name_only_begins_so(workspace):
    assert "no such folder" in refused(workspace, "ls", path="/note")


def test_what_is_no_folder_is_told_apart(workspace):
    assert "read_file" in refused(workspace, "ls", path="/a.txt")
    assert "absolute" in refused(workspace, "ls", path="notes")
    assert "no such folder" in refused(workspace, "ls", path="/" + "x" * 2_000_000)


def test_empty_places_are_said_to_be_empty():
    empty = MemoryWorkspace()

    assert said(empty, "ls") == "There is no file in / yet."
    assert said(empty, "ls", path="/memories") == "There is no file in /memories/ yet."


def test_a_long_list_is_cut_and_says_so():
    many = MemoryWorkspace({f"/{n:04}": "" for n in range(MAX_ENTRIES + 1)})

    *shown, cut = said(many, "ls").split("\n")

    assert len(shown) == MAX_ENTRIES
    assert cut.startswith("[500 of 501 entries.")


def test_a_file_is_read_by_its_exact_path(workspace):
    assert "     1\tBe kind." in said(workspace, "read_file", path="/memories/AGENTS.md")
    assert "no file /A.txt" in refused(workspace, "read_file", path="/A.txt")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("a.txt", "absolute"),
        ("", "absolute"),
        ("../etc/passwd", "absolute"),
        ("/notes/", "folder"),
        ("/", "folder"),
        ("/memories", "folder"),
        ("/memories/", "folder"),
        ("/notes/../a.txt", "no step"),
        ("/memories/../a.txt", "no step"),
        ("/a//b", "empty step"),
        ("/a\0b", "control characters"),
        ("/a\ud800b", "control characters"),
        ("/" + "x" * 400, "400 characters"),
    ],
)
@pytest.mark.parametrize("tool", ["read_file", "write_file", "edit_file"])
def test_a_path_that_no_file_can_have_is_refused_everywhere(workspace, tool, path, why):
    values = {"read_file": {}, "write_file": {"content": "x"}}
    edit = {"old_text": "x", "new_text": "y"}

    assert why in refused(workspace, tool, path=path, **values.get(tool, edit)).replace(
        "No ", "no "
    )
    assert workspace.contents == TREE


def test_a_write_says_what_it_did(workspace):
    assert (
        said(workspace, "write_file", path="/b", content="x\ny\n") == "Wrote /b: 2 lines, 4 bytes."
    )
    assert said(workspace, "write_file", path="/b", content="") == "Replaced /b: 0 lines, 0 bytes."
    assert workspace.contents["/b"] == ""


def test_a_file_has_a_largest_size(workspace):
    longest = "x" * MAX_FILE_CHARACTERS

    said(workspace, "write_file", path="/b", content=longest)
    assert "at most 2,000,000 characters" in refused(
        workspace, "write_file", path="/b", content=longest + "x"
    )
    assert workspace.contents["/b"] == longest


def test_an_edit_says_in_how_many_places(workspace):
    assert said(workspace, "edit_file", path="/notes/plan.md", old_text="two", new_text="2") == (
        "Edited /notes/plan.md: replaced in 1 place."
    )
    edit = {"old_text": "n", "new_text": "m", "replace_all": True}
    assert said(workspace, "edit_file", path="/notes/plan.md", **edit).endswith("1 place.")
    assert workspace.contents["/notes/plan.md"] == "2\nlimes\n"


def test_an_edit_that_is_refused_changes_nothing(workspace):
    refused(workspace, "edit_file", path="/notes/plan.md", old_text="n", new_text="n")
    refused(workspace, "edit_file", path="/none", old_text="a", new_text="b")

    assert workspace.contents == TREE


def test_another_owners_memory_is_read_but_not_written():
    workspace = MemoryWorkspace(TREE, read_only=True)
    edit = {"old_text": "kind", "new_text": "rude"}

    said(workspace, "read_file", path="/memories/AGENTS.md")
    for why in (
        refused(workspace, "write_file", path="/memories/x", content="y"),
        refused(workspace, "edit_file", path="/memories/AGENTS.md", **edit),
    ):
        assert "belongs to somebody else" in why
    assert workspace.contents == TREE
