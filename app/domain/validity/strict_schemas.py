"""Schemas of tools with `strict`: the provider compiles them, and takes only what it can."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from app.domain.validity.findings import Finding, Path, key_path

_CODE = "tool_schema_strict"
_VALUES = frozenset({"enum", "const", "default", "example", "examples"})  # no schemas in there
_NAMED = frozenset({"properties", "$defs", "definitions", "patternProperties"})
_FANCY = re.compile(r"\(\?[=!<]|\\[1-9]|\\[bB]")  # lookaround, back references, word borders


def strict_findings(schema: Mapping[str, Any], path: Path) -> Iterator[Finding]:
    """Open objects, recursion, and patterns beyond plain regular expressions."""
    for at, part in _parts(schema, path):
        if _is_object(part) and part.get("additionalProperties") is not False:
            yield Finding(at, _CODE, "Give the object additionalProperties: false.")
        pattern = part.get("pattern")
        if isinstance(pattern, str) and _FANCY.search(pattern):
            yield Finding((*at, "pattern"), _CODE, "No lookaround, back references or borders.")
    if _is_recursive(schema):
        yield Finding(path, _CODE, "A schema that refers to itself is not taken.")


def _is_object(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "object" or isinstance(part.get("properties"), dict)


def _parts(value: Any, path: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """A schema and every schema inside it."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _parts(item, (*path, index))
    elif isinstance(value, dict):
        yield path, value
        for key, inner in value.items():
            if key in _NAMED and isinstance(inner, dict):
                for name, named in inner.items():
                    yield from _parts(named, key_path((*path, key), name))
            elif key not in _VALUES:
                yield from _parts(inner, key_path(path, key))


def _is_recursive(schema: Mapping[str, Any]) -> bool:
    """Whether following `$ref` leads in a circle."""
    refers = {
        f"#/{group}/{name}": _references(definition)
        for group in ("$defs", "definitions")
        if isinstance(schema.get(group), dict)
        for name, definition in schema[group].items()
    }
    try:
        TopologicalSorter({**refers, "#": _references(schema)}).prepare()
    except CycleError:
        return True
    return False


def _references(value: Any) -> set[str]:
    return {part["$ref"] for _, part in _parts(value, ()) if isinstance(part.get("$ref"), str)}
