from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chain.handlers.globs import glob_matcher
from app.domain.tools import ToolError


def fits(pattern, path):
    return glob_matcher(pattern).match(path) is not None


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("/src/**/*.py", "/src/a.py", True),
        ("/src/**/*.py", "/src/x/y/a.py", True),
        ("/src/**/*.py", "/src.py", False),
        ("/src/*.py", "/src/x/a.py", False),
        ("/src/**", "/src/x/y", True),
        ("/src/**", "/src", False),
        ("/**", "/a", True),
        ("*.py", "/a/b/c.py", True),
        ("src/*.py", "/src/a.py", True),
        ("src/*.py", "/x/src/a.py", False),
        ("/a?c", "/abc", True),
        ("/a?c", "/a/c", False),
        ("/a?c", "/a漢c", True),
        ("/**/x/**/y", "/x/y", True),
        ("/**/x/**/y", "/a/x/b/c/y", True),
        ("/**/x/**/y", "/ax/b/y", False),
        ("/**/x/**/y", "/xa/x/y", True),
        ("/a**c", "/abbc", True),
        ("/a**c", "/ab/c", False),
        ("/[ab].(x)+", "/[ab].(x)+", True),
        ("/[ab]", "/a", False),
        ("/A", "/a", False),
        ("/**/**/a", "/a", True),
        ("/a", "/a\n", False),
    ],
)
def test_patterns(pattern, path, expected):
    assert fits(pattern, path) is expected


@pytest.mark.parametrize("pattern", ["", "x" * 401])
def test_what_is_no_pattern_is_refused(pattern):
    with pytest.raises(ToolError, match="1 to 400 characters"):
        glob_matcher(pattern)


def plainly(pattern, path):
    """The same by trying everything, on lists of steps."""

    def steps(wanted, given):
        if not wanted:
            return not given
        if wanted[0] == "**":
            least = 1 if len(wanted) == 1 else 0
            return any(steps(wanted[1:], given[n:]) for n in range(least, len(given) + 1))
        return bool(given) and letters(wanted[0], given[0]) and steps(wanted[1:], given[1:])

    def letters(wanted, given):
        if not wanted:
            return not given
        if wanted[0] == "*":
            return any(letters(wanted[1:], given[n:]) for n in range(len(given) + 1))
        return bool(given) and wanted[0] in ("?", given[0]) and letters(wanted[1:], given[1:])

    return steps(pattern[1:].split("/"), path[1:].split("/"))


STEP = st.text("ab", min_size=1, max_size=5)
PATTERN_STEP = st.one_of(st.just("**"), st.text("ab*?", min_size=1, max_size=6))


@given(st.lists(PATTERN_STEP, min_size=1, max_size=5), st.lists(STEP, min_size=1, max_size=5))
def test_it_finds_what_trying_everything_finds(pattern, path):
    wanted, given = "/" + "/".join(pattern), "/" + "/".join(path)

    assert fits(wanted, given) is plainly(wanted, given)


def test_no_pattern_takes_for_ever():
    assert not fits("/" + "*a" * 199 + "b", "/" + "a" * 399)
    assert not fits("/" + "**/a/" * 79 + "b", "/a" * 200)
    assert not fits("/" + "**/*a*/" * 50 + "b", "/aa" * 130)
