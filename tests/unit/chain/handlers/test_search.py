from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chain.handlers.answers import Answers
from app.chain.handlers.inputs import carried_out
from app.chain.handlers.search import MAX_MATCHES, MAX_PATHS, SearchTools, matching_lines
from app.chain.prompts import definitions_of
from app.domain.tools import ToolCall
from app.tokens.estimator import estimator_for
from tests.fakes.workspace import MemoryWorkspace

ANSWERS = Answers(15_000, estimator_for("claude-sonnet-4-5"))
DEFINITIONS = {each["name"]: each for each in definitions_of("filesystem")}
TREE = {
    "/src/a.py": "import os\nx = 1\n",
    "/src/deep/b.py": "import re\r\n# import os, not\r\n",
    "/readme.md": "How to import.\n",
    "/memories/AGENTS.md": "Never import os.",
}


@pytest.fixture
def workspace():
    return MemoryWorkspace(TREE)


def asked(workspace, tool, **values):
    handler_of = carried_out(SearchTools(workspace, ANSWERS).by_name())
    return handler_of(DEFINITIONS[tool])(ToolCall("t1", tool, values))


def said(workspace, tool, **values):
    outcome = asked(workspace, tool, **values)
    assert not outcome.is_error, outcome.content
    return outcome.content.split("\n")


def refused(workspace, tool, **values):
    outcome = asked(workspace, tool, **values)
    assert outcome.is_error, outcome.content
    return outcome.content


def test_glob_finds_files_by_path_memory_too(workspace):
    assert said(workspace, "glob", pattern="/src/**/*.py") == ["/src/a.py", "/src/deep/b.py"]
    assert said(workspace, "glob", pattern="*.md") == ["/memories/AGENTS.md", "/readme.md"]
    assert said(workspace, "glob", pattern="*.rs") == ["No file matches."]
    assert "1 to 400" in refused(workspace, "glob", pattern="")


def test_glob_says_how_many_it_leaves_out():
    many = MemoryWorkspace({f"/{n:04}": "" for n in range(MAX_PATHS + 7)})

    *shown, cut = said(many, "glob", pattern="*")

    assert len(shown) == MAX_PATHS
    assert cut.startswith("[500 of 507 files.")


def test_grep_shows_each_matching_line_with_its_place(workspace):
    assert said(workspace, "grep", text="import os") == [
        "/memories/AGENTS.md:1: Never import os.",
        "/src/a.py:1: import os",
        "/src/deep/b.py:2: # import os, not",
    ]


def test_grep_takes_the_text_literally(workspace):
    assert said(workspace, "grep", text="import .s") == ["No line contains it, in 4 files."]
    assert said(workspace, "grep", text="IMPORT") == ["No line contains it, in 4 files."]


def test_grep_looks_only_where_it_is_told_to(workspace):
    assert said(workspace, "grep", text="import", path="/readme.md") == [
        "/readme.md:1: How to import."
    ]
    assert len(said(workspace, "grep", text="import", path="/src")) == 3
    assert said(workspace, "grep", text="import", path="/src/", glob="a.*") == [
        "/src/a.py:1: import os"
    ]
    assert said(workspace, "grep", text="x", glob="*.rs") == ["No line contains it, in 0 files."]


def test_grep_says_what_it_cannot_look_for(workspace):
    assert "one line" in refused(workspace, "grep", text="")
    assert "one line" in refused(workspace, "grep", text="a\nb")
    assert "no such file or folder" in refused(workspace, "grep", text="a", path="/sr")
    assert "absolute" in refused(workspace, "grep", text="a", path="src")
    assert "1 to 400" in refused(workspace, "grep", text="a", glob="")


def test_grep_stops_when_it_has_enough_and_says_so():
    many = MemoryWorkspace({f"/{n}": "hit\n" * 150 + "x" * 3_000_000 for n in range(4)})

    *shown, cut = said(many, "grep", text="hit")

    assert len(shown) == MAX_MATCHES
    assert cut.startswith("[The first 200 matching lines.")
    assert many.read_together == [1, 1]  # large files one by one, and none behind the last


def test_small_files_are_read_together():
    many = MemoryWorkspace({f"/{n}": "x" for n in range(100)})

    said(many, "grep", text="y")

    assert many.read_together == [100]


def test_a_long_line_shows_what_stands_around_the_match():
    [(number, line)] = matching_lines("x" * 1000 + "needle" + "y" * 1000, "needle")

    assert number == 1
    assert line == "…" + "x" * 100 + "needle" + "y" * 194 + "…"


def test_a_line_of_megabytes_that_matches_everywhere_is_shown_once():
    assert len(list(matching_lines("a" * 2_000_000, "a"))) == 1
    assert len(list(matching_lines("a\n" * 300_000, "a"))) == 300_000


@given(st.text("ab\n", max_size=60), st.text("ab", min_size=1, max_size=3))
def test_it_finds_the_lines_that_contain_the_text(content, text):
    expected = [
        (number, line) for number, line in enumerate(content.split("\n"), start=1) if text in line
    ]

    assert list(matching_lines(content, text)) == expected
