"""docs/reference/errors.md: codes of problems from their tree, codes of faults from the code.

A fault's code stands as a literal where the fault is made, with the advice beside it. So the page
reads the source: whoever adds a fault has documented it.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from app.errors import Failure
from docs.writers.markdown import cell, filled, table

LATER = "…"  # a value that only a run knows
APP = Path(__file__).resolve().parents[2] / "app"

# Loaded, so that their failures are in the tree.
_MODULES_WITH_FAILURES = (
    "app.api.problems",
    "app.domain.paths",
    "app.provider.failures",
    "app.services.calls",
)

# Where a fault is made → what was wrong with what.
_SECTIONS = {
    "A body, a query, a header": ("api", "services"),
    "A set of overrides": ("domain/completion.py", "services/overrides.py", "domain/replacing.py"),
    "Messages, tools and requests": ("domain",),
    "A file to import": ("importers",),
}


class FaultCode(NamedTuple):
    """A code, what is said with it, and the file (below app/) that says it."""

    code: str
    advice: str
    path: str


def page() -> str:
    """The whole text."""
    found = sorted(failures(), key=lambda kind: (kind.status, kind.code))
    rows = [
        [f"`{kind.code}`", str(kind.status), cell(kind.title), cell(_first_line(kind))]
        for kind in found
    ]
    return filled(
        "errors.md",
        failures=table(("code", "status", "title", "when"), rows),
        faults="\n".join(_fault_sections()),
    )


def failures() -> set[type[Failure]]:
    """Every class that a problem can come from: one for each code."""
    for name in _MODULES_WITH_FAILURES:
        import_module(name)
    return set({kind.code: kind for kind in reversed(list(_below(Failure)))}.values())


def _below(kind: type[Failure]) -> Iterator[type[Failure]]:
    for each in kind.__subclasses__():
        yield each
        yield from _below(each)


def _first_line(kind: type[Failure]) -> str:
    return (kind.__doc__ or "").strip().split("\n")[0]


def fault_codes() -> list[FaultCode]:
    """Every fault that the code can make."""
    return [
        FaultCode(code, advice, str(path.relative_to(APP)))
        for path in sorted(APP.rglob("*.py"))
        for code, advice in _Reader(ast.parse(path.read_text(encoding="utf-8"))).found()
    ]


def _fault_sections() -> Iterator[str]:
    by_section: dict[str, dict[str, list[str]]] = {name: defaultdict(list) for name in _SECTIONS}
    for each in fault_codes():
        advices = by_section[_section_of(each.path)][each.code]
        if each.advice not in ("", LATER, *advices):
            advices.append(each.advice)
    titles = {kind.code: f"{kind.title}." for kind in failures()}
    for name, codes in by_section.items():
        rows = [
            [f"`{code}`", cell(" / ".join(advices) or titles.get(code, ""))]
            for code, advices in sorted(codes.items())
        ]
        yield f"### {name}\n\n{table(('code', 'advice that comes with it'), rows)}\n"


def _section_of(path: str) -> str:
    """The section with the longest prefix of the path."""
    fitting = [
        (len(prefix), name)
        for name, prefixes in _SECTIONS.items()
        for prefix in prefixes
        if path.startswith(prefix)
    ]
    return max(fitting)[1]


class _Reader:
    """Finds the codes in one module."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._constants = {
            target.id: statement.value
            for statement in tree.body
            if isinstance(statement, ast.Assign)
            for target in statement.targets
            if isinstance(target, ast.Name)
        }

    def found(self) -> Iterator[tuple[str, str]]:
        """Codes and advices, in the order of the source."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call):
                yield from self._call(node)
            elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
                yield from self._pair(node.value)
        for name in ("_CODES", "_NO_CACHE", "_NO_SAMPLING"):
            yield from self._table(self._constants.get(name))

    def _call(self, node: ast.Call) -> Iterator[tuple[str, str]]:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in ("Fault", "Finding") and len(node.args) == 3:
            yield from self._coded(node.args[1], self._text(node.args[2]))
        elif name == "Kind":
            says = f"It must be {self._text(node.args[0])}."
            yield from self._coded(node.args[2] if len(node.args) > 2 else None, says)

    def _pair(self, node: ast.Tuple) -> Iterator[tuple[str, str]]:
        """`return "code", "Advice."`"""
        texts = [self._text(each) for each in node.elts]
        if len(texts) == 2 and _is_code(texts[0]) and texts[1].endswith("."):
            yield texts[0], texts[1]

    def _coded(self, node: ast.expr | None, advice: str) -> Iterator[tuple[str, str]]:
        for each in ast.walk(node) if node else ():
            code = self._text(each) if isinstance(each, ast.Constant | ast.Name) else ""
            if _is_code(code):
                yield code, advice

    def _table(self, node: ast.expr | None) -> Iterator[tuple[str, str]]:
        """A dictionary from what is refused to its code, written out or by `dict.fromkeys`."""
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                advice = self._text(key) if key else ""
                yield from self._coded(value, advice if advice.endswith(".") else "Leave it out.")
        elif isinstance(node, ast.Call):
            yield from self._coded(node.args[1], "Leave it out: the model takes none.")

    def _text(self, node: ast.expr) -> str:
        """A text as far as the source says it; `…` for what is known only later."""
        if isinstance(node, ast.Constant):
            return str(node.value)
        if isinstance(node, ast.JoinedStr):
            return "".join(self._text(each) for each in node.values)
        if isinstance(node, ast.FormattedValue):
            return self._text(node.value) if isinstance(node.value, ast.Name) else LATER
        if isinstance(node, ast.Name):
            return self._named(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._returned(node.func.id)
        return LATER

    def _named(self, name: ast.Name) -> str:
        """What stands behind a name: the nearest text above that it was given."""
        above = [
            each
            for each in ast.walk(self._tree)
            if isinstance(each, ast.Assign)
            and each.lineno < name.lineno
            and [t.id for t in each.targets if isinstance(t, ast.Name)] == [name.id]
        ]
        nearest = max(above, key=lambda each: each.lineno).value if above else None
        return self._text(nearest) if isinstance(nearest, ast.Constant | ast.JoinedStr) else LATER

    def _returned(self, function: str) -> str:
        """The texts that a function of this module may return."""
        texts = [
            str(node.value.value)
            for each in self._tree.body
            if isinstance(each, ast.FunctionDef) and each.name == function
            for node in ast.walk(each)
            if isinstance(node, ast.Return) and isinstance(node.value, ast.Constant)
        ]
        return " / ".join(texts) or LATER


def _is_code(text: str) -> bool:
    return text.isascii() and text.islower() and text.replace("_", "").isalnum()


def codes_on_page() -> Iterable[str]:
    """Every code of problem or fault."""
    return {kind.code for kind in failures()} | {each.code for each in fault_codes()}
