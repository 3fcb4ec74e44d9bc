"""Path patterns: `*` and `?` within a step of a path, `**` across any number of steps."""

from __future__ import annotations

import re
from functools import lru_cache

from app.domain.paths import MAX_PATH_CHARACTERS
from app.domain.tools import ToolError

_STEP_ENDS = r"(?=/|\Z)"


def glob_matcher(pattern: str) -> re.Pattern[str]:
    """What matches whole paths that fit `pattern`. No other character is special.

    A pattern without a slash fits the last step of a path, in whatever folder. Matching costs at
    most the product of both lengths for each `**`: what a wildcard has settled is not tried anew.

    Raises:
        ToolError: it is empty, or longer than any path.
    """
    if not pattern or len(pattern) > MAX_PATH_CHARACTERS:
        raise ToolError(f"A pattern has 1 to {MAX_PATH_CHARACTERS} characters, like /src/**/*.py.")
    if "/" not in pattern:
        pattern = f"/**/{pattern}"
    return _compiled(pattern if pattern.startswith("/") else f"/{pattern}")


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    first, *others = _between_crossings(pattern[1:].split("/"))
    parts = [_steps(first)]
    if others:
        *middle, last = others
        # The first place that fits leaves the most for the rest, so none other need be tried.
        parts += [rf"(?>(?:/[^/]*)*?{_steps(each)}{_STEP_ENDS})" for each in middle if each]
        parts.append(rf"(?:/[^/]*)*?{_steps(last)}" if last else "(?:/[^/]*)+")
    return re.compile("".join(parts) + r"\Z")


def _between_crossings(steps: list[str]) -> list[list[str]]:
    groups: list[list[str]] = [[]]
    for step in steps:
        if step == "**":
            groups.append([])
        else:
            groups[-1].append(step)
    return groups


def _steps(steps: list[str]) -> str:
    return "".join(f"/{_step(each)}" for each in steps)


def _step(step: str) -> str:
    """One step. Between two stars the first place that fits is kept, for the same reason."""
    first, *others = (_fixed(each) for each in re.split(r"\*+", step))
    if not others:
        return first
    *middle, last = others
    return first + "".join(rf"(?>[^/]*?{each})" for each in middle) + rf"[^/]*{last}"


def _fixed(text: str) -> str:
    return "".join("[^/]" if each == "?" else re.escape(each) for each in text)
