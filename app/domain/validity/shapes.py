"""Shapes of JSON objects as tables: which fields there are, and what each may hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from app.domain.validity.findings import Finding, Path, key_path


@dataclass(frozen=True, slots=True)
class Kind:
    """What a field may hold, in words and as a test; the code when it holds something else."""

    says: str
    holds: Callable[[Any], bool]
    code: str = "field_invalid"


@dataclass(frozen=True, slots=True)
class Shape:
    """The fields of an object. One of `refused` has a code of its own; all others are unknown."""

    required: Mapping[str, Kind] = field(default_factory=dict)
    optional: Mapping[str, Kind] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    is_open: bool = False  # has more fields than are known here


def check_object(value: Any, shape: Shape, path: Path) -> Iterator[Finding]:
    """Fields missing, unknown, or of the wrong kind. `type` is the caller's."""
    if not isinstance(value, dict):
        yield Finding(path, "field_invalid", "An object belongs here.")
        return
    for name, kind in shape.required.items():
        if name not in value:
            yield Finding((*path, name), "field_missing", f"Give it: {kind.says}.")
        elif not kind.holds(value[name]):
            yield Finding((*path, name), kind.code, f"It must be {kind.says}.")
    for name, held in value.items():
        if name in shape.optional:
            if not shape.optional[name].holds(held):
                kind = shape.optional[name]
                yield Finding((*path, name), kind.code, f"It must be {kind.says}.")
        elif name in shape.refused or not (
            shape.is_open or name in shape.required or name == "type"
        ):
            code = shape.refused.get(name, "field_unknown")
            yield Finding(key_path(path, name), code, "Leave it out: there is no such field here.")


def nullable(kind: Kind) -> Kind:
    """The same kind, or null."""
    return Kind(
        f"{kind.says}, or null", lambda value: value is None or kind.holds(value), kind.code
    )


def one_of(*values: str) -> Kind:
    """One of these texts."""
    return Kind(
        f"one of {', '.join(values)}", lambda value: isinstance(value, str) and value in values
    )


def is_integer(value: Any) -> TypeGuard[int]:
    """Whether it is a JSON integer; Python counts booleans among them."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_cache_control(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.get("type") == "ephemeral"
        and value.get("ttl", "5m") in ("5m", "1h")
        and value.keys() <= {"type", "ttl"}
    )


ANYTHING = Kind("given", lambda value: True)  # noqa: ARG005
TEXT = Kind("text", lambda value: isinstance(value, str))
BOOLEAN = Kind("true or false", lambda value: isinstance(value, bool))
OBJECT = Kind("an object", lambda value: isinstance(value, dict))
LIST = Kind("a list", lambda value: isinstance(value, list))
TEXT_OR_LIST = Kind("text or a list of blocks", lambda value: isinstance(value, (str, list)))
CACHE_CONTROL = nullable(
    Kind(
        '{"type": "ephemeral"}, with a ttl of 5m or 1h', _is_cache_control, "cache_control_invalid"
    )
)
